"""The proof assistant Coq, driven through `coqidetop.opt`; every proof is checked by `coqc`."""
