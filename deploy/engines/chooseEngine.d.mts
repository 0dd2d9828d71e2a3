interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** `process.versions.modules`. */
  readonly abi: string;
  /** Version of glibc; undefined with another C library. */
  readonly glibc: string | undefined;
}

export function chooseEngine(machine: Machine): 'modern' | 'legacy';
export function describeMachine(): Machine;
