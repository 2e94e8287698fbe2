export function acceptsGzip(header: string | string[] | undefined): boolean {
  return /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[^,]*)?(,|$)/i.test(String(header ?? ''))
}
