import { useQuery } from '@tanstack/react-query'
import { SESSION_QUERY } from '../../api/session-query.ts'
import { addressOf } from '../../url-state/base-path.ts'
import { parseTenant } from '../../url-state/tenant.ts'
import { useSearch } from '../../url-state/use-search.ts'
import { Command } from '../states/states.tsx'
import { uploadCommand } from './upload-command.ts'

/** `data` is the argument of `--data-binary`, as the shell takes it. */
export function UploadCommandLine({ data }: { readonly data: string }) {
  const tenant = parseTenant(useSearch())
  const username = useQuery(SESSION_QUERY).data?.username ?? null
  return <Command text={uploadCommand({ address: addressOf('/api/upload'), data, tenant, username })} />
}
