/** The tenant that the console looks at, `tenant=` in the URL. Without one it sees all tenants, and acts for `default`. */
export const TENANT_PARAMETER = 'tenant'
const TENANT = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

export function parseTenant(search: string): string | undefined {
  const given = new URLSearchParams(search).get(TENANT_PARAMETER)
  return given !== null && isTenant(given) ? given : undefined
}

/** A choice of the URL that no tenant can be; undefined where the URL chooses none, or a tenant. */
export function wrongTenant(search: string): string | undefined {
  const given = new URLSearchParams(search).get(TENANT_PARAMETER)
  return given === null || given === '' || isTenant(given) ? undefined : given
}

export function isTenant(text: string): boolean {
  return TENANT.test(text)
}
