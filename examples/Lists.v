(** Lists from scratch, and what is left to be proved about them:  treetop prove examples/Lists.v --all-admitted *)

Section Lists.

Variable A : Type.

Inductive list : Type := nil : list | cons : A -> list -> list.

Fixpoint app (l m : list) : list := match l with nil => m | cons x k => cons x (app k m) end.

Fixpoint rev (l : list) : list := match l with nil => nil | cons x k => app (rev k) (cons x nil) end.

Fixpoint length (l : list) : nat := match l with nil => 0 | cons _ k => S (length k) end.

Lemma app_nil : forall l : list, app l nil = l.
Admitted.

Lemma app_assoc : forall l m k : list, app l (app m k) = app (app l m) k.
Admitted.

Lemma app_length : forall l m : list, length (app l m) = length l + length m.
Admitted.

Lemma rev_app : forall l m : list, rev (app l m) = app (rev m) (rev l).
Admitted.

Lemma rev_involutive : forall l : list, rev (rev l) = l.
Admitted.

End Lists.
