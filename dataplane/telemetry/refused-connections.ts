let refused = 0

/** A server has closed a connection at once. */
export function countRefusedConnection(): void {
  refused++
}

/** Connections that servers of this thread have closed at once since its start. */
export const refusedConnections = (): number => refused
