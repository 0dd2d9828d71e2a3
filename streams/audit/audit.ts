/** An audit compares a half hour of an installation, or a safe block. */
export const auditKinds = ['half_hour', 'safe_block'] as const;
export type AuditKind = (typeof auditKinds)[number];

export const auditOutcomes = ['agrees', 'drift', 'skipped'] as const;

export type Audit<Sample> =
  | { readonly outcome: 'agrees'; readonly about: string }
  | {
      readonly outcome: 'drift';
      readonly about: string;
      /** Identifies the sample: repeated audits of it have the same key. */
      readonly key: string;
      /** Compared again until it agrees. */
      readonly sample: Sample;
      /** Descriptions of the first few differences. */
      readonly differences: readonly string[];
      /** The command that corrects it. */
      readonly repair: string;
    }
  | { readonly outcome: 'skipped'; readonly about: string };

/** Maximum number of differences that one comparison reports. */
export const differencesMax = 5;
