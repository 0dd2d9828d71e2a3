import type { ErrorKind } from '../machines/failures.ts';

interface OperatorErrorOptions extends ErrorOptions {
  readonly kind?: ErrorKind;
  readonly exitStatus?: 1 | 2;
}

/** An error that only an operator can remove: its message says what to do, and a stack trace would only obscure that. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  readonly kind: ErrorKind | undefined;
  /** Status of a process that it ends: 2 if another configuration is needed. */
  readonly exitStatus: number;

  constructor(message: string, { kind, exitStatus = 1, ...options }: OperatorErrorOptions = {}) {
    super(message, options);
    this.kind = kind;
    this.exitStatus = exitStatus;
  }
}
