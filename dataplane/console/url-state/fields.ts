/** How one value of a page stands in its URL. A default is not written, so that links stay short; what cannot be read is the default. */
export interface UrlField<T> {
  /** `null`: the URL has no such parameter. */
  parse(text: string | null): T
  /** `undefined`: left out. */
  format(value: T): string | undefined
}

export type UrlSchema = Readonly<Record<string, UrlField<unknown>>>
export type UrlValues<S extends UrlSchema> = { readonly [K in keyof S]: S[K] extends UrlField<infer T> ? T : never }

export function text(fallback = ''): UrlField<string> {
  return { parse: given => given ?? fallback, format: value => (value === fallback ? undefined : value) }
}

/** Text that is there or not. */
export function optionalText(): UrlField<string | undefined> {
  return { parse: given => given ?? undefined, format: value => value }
}

export function choice<const T extends string>(values: readonly T[], fallback: T): UrlField<T> {
  return {
    parse: given => values.find(value => value === given) ?? fallback,
    format: value => (value === fallback ? undefined : value),
  }
}

export function flag(): UrlField<boolean> {
  return { parse: given => given === '1', format: value => (value ? '1' : undefined) }
}

/** Values with commas in them are kept whole. */
export function list(): UrlField<readonly string[]> {
  return {
    parse: given =>
      given === null || given === '' ? [] : given.split(',').map(part => part.replaceAll('%2C', ',').replaceAll('%25', '%')),
    format: values =>
      values.length === 0 ? undefined : values.map(value => value.replaceAll('%', '%25').replaceAll(',', '%2C')).join(','),
  }
}

export function readFields<S extends UrlSchema>(schema: S, search: string): UrlValues<S> {
  const parameters = new URLSearchParams(search)
  return Object.fromEntries(Object.entries(schema).map(([name, field]) => [name, field.parse(parameters.get(name))])) as UrlValues<S>
}

/** The search part of the URL with the changed values in it; all other parameters stay. Empty, or begins with `?`. */
export function writeFields<S extends UrlSchema>(schema: S, search: string, changes: Partial<UrlValues<S>>): string {
  const parameters = new URLSearchParams(search)
  for (const [name, value] of Object.entries(changes)) {
    const written = schema[name]?.format(value)
    if (written === undefined) parameters.delete(name)
    else parameters.set(name, written)
  }
  const written = parameters.toString()
  return written === '' ? '' : `?${written}`
}
