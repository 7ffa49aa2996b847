"""The embedded prover: intuitionistic propositional logic, in process, with its own checker."""
