import { TENANT_HEADER } from '../../../contract/headers.ts'

export interface UploadCommandOptions {
  /** The address of `/api/upload`. */
  readonly address: string
  /** The argument of `--data-binary`, as the shell takes it. */
  readonly data: string
  /** Undefined: the records belong to the dashboard's own. */
  readonly tenant: string | undefined
  /** Null where nobody has to log in. */
  readonly username: string | null
}

/** Uploads from a terminal what the page that shows the command will find: for the tenant that it looks at, and past the question for a password. */
export function uploadCommand({ address, data, tenant, username }: UploadCommandOptions): string {
  const user = username === null ? '' : ` -u ${quote(username)}`
  const header = tenant === undefined ? '' : ` -H '${TENANT_HEADER}: ${tenant}'`
  return `curl${user}${header} ${address} --data-binary ${data}`
}

function quote(text: string): string {
  return /^[\w.@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
