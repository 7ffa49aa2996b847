"""Compile methods of objects: digests, the cache on disk, lazy dispatch, intrinsics with plain twins."""
