"""A file of Coq with all that can be in the way of somebody who looks for admitted lemmas."""

EVERYTHING = """(* Lemma in_comment : True. Admitted. (* nested "*)" Admitted. *) *)
Require Import List. Import ListNotations.
Set Implicit Arguments. Unset Strict Implicit.
Definition text := 1. (* "Admitted." *)
Notation "x +++ y" := (x ++ y) (at level 60, right associativity). (* Qed. *)
Notation "'Lemma_of' x" := (x = x) (at level 70).
Fail Lemma not_one : nonsense.
Lemma same_line : 1 = 1. Admitted. Lemma same_line' : 2 = 2. Proof. Admitted. (* . *) Check same_line.
Lemma (* a comment. Admitted. *) spaced
  : (* and. another *) 3 = 3 .
Proof
 .
  (* Qed. *)
Admitted
  (* before the stop *) .
Lemma commented : 11 = 11. Proof (* what. *) . Admitted.
Lemma term : 12 = 12. Proof (* it. *) eq_refl.
#[local] Lemma attributed : 4 = 4. Admitted.
#[export] Hint Resolve attributed : core.
Local Fact été_δ' : forall δ : nat, δ = δ. Admitted.
Lemma bullets : 1 = 1 /\\ (2 = 2 /\\ 3 = 3).
Proof.
  split.
  - reflexivity.
  - split.
    2: { admit. }
    { reflexivity. }
Admitted.
Lemma given_up : False. Abort.
Lemma finished : 5 = 5. Proof. { reflexivity. } Qed.
Definition transparent : nat. Proof. exact 3. Defined.
Lemma about_it : transparent = 3. Admitted.
Module Type T. Parameter t : nat. Axiom same : t = t. End T.
Module F (X : T).
  Lemma in_functor : X.t = X.t. Admitted.
  Module Inner. Corollary deep : 6 = 6. Admitted. End Inner.
End F.
Module N <: T. Definition t := 1. Lemma same : t = t. Admitted. End N.
Module G := F N.
Check G.in_functor.
Section S.
  Variables (A : Type) (a : A).
  Proposition in_section (l : list A) : l +++ [] = l +++ []. Admitted.
  Let local : a = a. Admitted.
End S.
Check (fun l : list nat => in_section 0 l).
Time Property timed : 7 = 7. Time Admitted.
Ltac solve_it := (idtac "Lemma x : True. Admitted."; reflexivity).
Example notation : Lemma_of 8. Admitted.
Theorem no_proof_word : 9 = 9. reflexivity. Qed.
Remark last_one : 10 = 10. Admitted"""
