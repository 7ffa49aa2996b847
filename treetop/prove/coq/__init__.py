"""The proof assistant Coq, spoken to through `coqidetop.opt`; every proof is judged by `coqc`."""
