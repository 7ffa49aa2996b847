(** Statements for experiments with policies: provable in a few steps, by induction, by cases, or by logic alone. *)

Section Trees.

Variable A : Type.

Inductive tree : Type := leaf : tree | node : tree -> A -> tree -> tree.

Fixpoint mirror (t : tree) : tree := match t with leaf => leaf | node l x r => node (mirror r) x (mirror l) end.
Fixpoint count (t : tree) : nat := match t with leaf => 0 | node l _ r => S (count l + count r) end.
Fixpoint within (x : A) (t : tree) : Prop := match t with leaf => False | node l y r => x = y \/ within x l \/ within x r end.

Lemma mirror_mirror : forall t : tree, mirror (mirror t) = t.
Admitted.

Lemma mirror_leaf : forall t : tree, mirror t = leaf -> t = leaf.
Admitted.

Lemma within_mirror : forall (x : A) (t : tree), within x t -> within x (mirror t).
Admitted.

Lemma count_zero : forall t : tree, count t = 0 -> t = leaf.
Admitted.

End Trees.

Section Lists.

Variable A : Type.

Fixpoint take (n : nat) (l : list A) : list A :=
  match n, l with S k, cons x m => cons x (take k m) | _, _ => nil end.
Fixpoint drop (n : nat) (l : list A) : list A :=
  match n, l with S k, cons _ m => drop k m | _, _ => l end.
Fixpoint put (l m : list A) : list A := match l with nil => m | cons x k => cons x (put k m) end.
Fixpoint has (x : A) (l : list A) : Prop := match l with nil => False | cons y k => x = y \/ has x k end.

Lemma take_drop : forall (n : nat) (l : list A), put (take n l) (drop n l) = l.
Admitted.

Lemma drop_nil : forall n : nat, drop n nil = nil.
Admitted.

Lemma has_put : forall (x : A) (l m : list A), has x l -> has x (put l m).
Admitted.

Lemma has_put_right : forall (x : A) (l m : list A), has x m -> has x (put l m).
Admitted.

Lemma put_cancel : forall l m k : list A, put l m = put l k -> m = k.
Admitted.

End Lists.

Fixpoint even (n : nat) : bool := match n with 0 => true | S k => negb (even k) end.

Lemma even_double : forall n : nat, even (n + n) = true.
Admitted.

Lemma negb_negb : forall b : bool, negb (negb b) = b.
Admitted.

Lemma or_distributes : forall P Q R : Prop, P \/ (Q /\ R) <-> (P \/ Q) /\ (P \/ R).
Admitted.

Lemma triple_not : forall P : Prop, ~ ~ ~ P -> ~ P.
Admitted.

Lemma not_not_implies : forall P Q : Prop, ~ ~ (P -> Q) -> (~ ~ P -> ~ ~ Q).
Admitted.

Lemma forall_and : forall (A : Type) (P Q : A -> Prop), (forall x, P x /\ Q x) <-> (forall x, P x) /\ forall x, Q x.
Admitted.

Lemma exists_or : forall (A : Type) (P Q : A -> Prop), (exists x, P x \/ Q x) <-> (exists x, P x) \/ exists x, Q x.
Admitted.

Lemma drinkers_friend : forall (A : Type) (P : A -> Prop) (Q : Prop), (exists x, P x -> Q) -> (forall x, P x) -> Q.
Admitted.
