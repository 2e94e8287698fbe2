const SUFFIXES: ReadonlyMap<string, number> = new Map(
  Object.entries({
    ...{ n: 1e-9, u: 1e-6, m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
    ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
  }),
)

/** The smaller one of two amounts as Kubernetes writes them: 500m, 0.5, 1Gi, 2e3. */
export function smallerAmount(one: string, other: string): string {
  return amountOf(other) < amountOf(one) ? other : one
}

/** `E` is a suffix by itself, and an exponent before digits. */
function amountOf(text: string): number {
  const [, figure = '', suffix = ''] = /^([0-9.]+(?:[eE][-+]?[0-9]+)?)([a-zA-Z]*)$/.exec(text) ?? []
  return Number(figure) * (SUFFIXES.get(suffix) ?? Number.NaN)
}
