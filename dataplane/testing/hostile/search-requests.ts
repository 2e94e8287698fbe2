export function* hostileSearchRequests(
  _seed: number,
): Generator<{ method: string; path: string; headers: Record<string, string>; body: Buffer; note: string }, never> {
  for (;;) yield { method: 'GET', path: '/', headers: {}, body: Buffer.alloc(0), note: 'stub' }
}
