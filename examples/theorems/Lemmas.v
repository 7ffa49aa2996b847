(** Statements without proofs, over numbers, truth values, lists and propositions. Nothing is required, so nothing but what Coq always
    knows is in scope; what is defined here has no lemmas but those that stand above. *)

(** ** Numbers, from scratch *)

Inductive num : Set := zero : num | next : num -> num.

Fixpoint plus (n m : num) : num := match n with zero => m | next k => next (plus k m) end.

Lemma plus_comm : forall n m : num, plus n m = plus m n.
Admitted.

Lemma plus_assoc : forall n m k : num, plus n (plus m k) = plus (plus n m) k.
Admitted.

Lemma next_injective : forall n m : num, next n = next m -> n = m.
Admitted.

Lemma zero_is_not_next : forall n : num, zero <> next n.
Admitted.

Fixpoint double (n : num) : num := match n with zero => zero | next k => next (next (double k)) end.

Lemma double_is_plus : forall n : num, double n = plus n n.
Admitted.

(** ** Coq's own numbers *)

Lemma mul_one_right : forall n : nat, n * 1 = n.
Admitted.

Lemma le_plus_left : forall n m : nat, n <= m + n.
Admitted.

Lemma add_cancel_left : forall n m k : nat, n + m = n + k -> m = k.
Admitted.

Lemma zero_or_succ : forall n : nat, n = 0 \/ exists m, n = S m.
Admitted.

(** ** Truth values *)

Definition both (a b : bool) : bool := if a then b else false.
Definition either (a b : bool) : bool := if a then true else b.
Definition flip (a : bool) : bool := if a then false else true.

Lemma flip_flip : forall a : bool, flip (flip a) = a.
Admitted.

Lemma both_comm : forall a b : bool, both a b = both b a.
Admitted.

Lemma both_assoc : forall a b c : bool, both a (both b c) = both (both a b) c.
Admitted.

Lemma flip_both : forall a b : bool, flip (both a b) = either (flip a) (flip b).
Admitted.

Lemma either_true : forall a b : bool, either a b = true -> a = true \/ b = true.
Admitted.

Lemma both_true_iff : forall a b : bool, both a b = true <-> a = true /\ b = true.
Admitted.

(** ** Lists *)

Section Lists.

Variable A B : Type.

Fixpoint join (l m : list A) : list A := match l with nil => m | cons x k => cons x (join k m) end.
Fixpoint turn (l : list A) : list A := match l with nil => nil | cons x k => join (turn k) (cons x nil) end.
Fixpoint long (l : list A) : nat := match l with nil => 0 | cons _ k => S (long k) end.
Fixpoint each (f : A -> B) (l : list A) : list B := match l with nil => nil | cons x k => cons (f x) (each f k) end.

Lemma join_nil : forall l : list A, join l nil = l.
Admitted.

Lemma join_assoc : forall l m k : list A, join l (join m k) = join (join l m) k.
Admitted.

Lemma turn_join : forall l m : list A, turn (join l m) = join (turn m) (turn l).
Admitted.

Lemma turn_turn : forall l : list A, turn (turn l) = l.
Admitted.

Lemma long_join : forall l m : list A, long (join l m) = long l + long m.
Admitted.

Lemma join_is_nil : forall l m : list A, join l m = nil -> l = nil /\ m = nil.
Admitted.

End Lists.

(** ** Propositions *)

Lemma not_or : forall P Q : Prop, ~ (P \/ Q) <-> ~ P /\ ~ Q.
Admitted.

Lemma or_not : forall P Q : Prop, ~ P \/ ~ Q -> ~ (P /\ Q).
Admitted.

Lemma and_or_distributes : forall P Q R : Prop, P /\ (Q \/ R) <-> (P /\ Q) \/ (P /\ R).
Admitted.

Lemma not_not_excluded_middle : forall P : Prop, ~ ~ (P \/ ~ P).
Admitted.

Lemma contraposition : forall P Q : Prop, (P -> Q) -> ~ Q -> ~ P.
Admitted.

Lemma not_exists : forall (A : Type) (P : A -> Prop), ~ (exists x, P x) <-> forall x, ~ P x.
Admitted.

Lemma exists_and : forall (A : Type) (P Q : A -> Prop), (exists x, P x /\ Q x) -> (exists x, P x) /\ exists x, Q x.
Admitted.
