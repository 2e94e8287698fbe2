const TEXT_TYPES: readonly string[] = ['text/plain', 'application/openmetrics-text']

/** Whether an `Accept` header names Prometheus's text formats, and not `application/json` above them; a wildcard names neither. */
export function prefersText(accept: string | undefined): boolean {
  const named = (accept ?? '')
    .split(',')
    .map(parseRange)
    .filter(({ type }) => type === 'application/json' || TEXT_TYPES.includes(type))
  named.sort((a, b) => b.quality - a.quality)
  const [first] = named
  return first !== undefined && TEXT_TYPES.includes(first.type)
}

function parseRange(range: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
  const quality = parameters.find(parameter => parameter.startsWith('q='))?.slice(2)
  return { type, quality: quality === undefined ? 1 : Number(quality) || 0 }
}
