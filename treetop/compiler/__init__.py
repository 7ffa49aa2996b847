"""Objects with compiled methods: digests, the cache on disk, lazy dispatch, intrinsics with plain twins."""
