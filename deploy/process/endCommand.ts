/**
 * Ends the process once all that it has written is taken. Without it, a command would not end by itself: the NATS client keeps the socket of
 * a server that never answered.
 */
export function endCommand(status: number): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(status)));
}
