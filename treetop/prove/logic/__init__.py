"""The embedded prover: intuitionistic propositional logic, in process, with a checker of its own."""
