/** Why a message was not accepted. Readings are tested in the order of MESSAGES.md, Acceptance of readings. */
export const rejectionReasons = [
  'malformed',
  'wrong_installation',
  'wrong_instance',
  'future_observation',
  'past_observation',
  'implausible',
  'duplicate',
  'out_of_order',
  'counter_regression',
  'too_many_instances',
  'modules_too_large',
  'too_many_installations',
  'unlinked_span',
  'other_deployment',
  'not_allowed',
] as const;
export type RejectionReason = (typeof rejectionReasons)[number];
