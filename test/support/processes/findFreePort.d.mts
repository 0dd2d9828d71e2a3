/** A port of the loopback interface that nothing listens on at the moment. */
export function findFreePort(): Promise<number>;
