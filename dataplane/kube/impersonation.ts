/** Impersonation: acts as another user, by the `as…` fields of a kubeconfig. */

export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

export type Headers = Readonly<Record<string, string | readonly string[]>>

export function impersonationHeaders({ user, uid, groups, extra }: Impersonation): Headers {
  return {
    'impersonate-user': user,
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    ...Object.fromEntries(Object.entries(extra).map(([key, values]) => [`impersonate-extra-${escapeName(key)}`, values])),
  }
}

/** Whether a header comes more than once: HTTP/2 as our client speaks it would join them. */
export function hasRepeatedHeaders({ groups, extra }: Impersonation): boolean {
  return groups.length > 1 || Object.values(extra).some(values => values.length > 1)
}

/** The API server takes names percent-encoded. */
function escapeName(name: string): string {
  const bytes = [...new TextEncoder().encode(name.toLowerCase())]
  return bytes.map(byte => (isPlain(byte) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`)).join('')
}

/** The characters of a token in HTTP, but for `%`. */
function isPlain(byte: number): boolean {
  return /[!#$&'*+.^_`|~0-9a-z-]/.test(String.fromCharCode(byte))
}
