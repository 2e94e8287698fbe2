/** API keys of the tenant: create one and copy it once, see which are used, revoke one. */
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconKey } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { type ApiKey, type CreatedKey, createKey, listKeys, revokeKey } from '../../../api/admin.ts'
import { GATEWAY_PORT, KNOWS_GATEWAY } from '../../../api/gateway-address.ts'
import { problemOf } from '../../../api/problem.ts'
import { DataTable } from '../../../components/layout/data-table.tsx'
import { Panel } from '../../../components/layout/panel.tsx'
import { Command, EmptyState, ErrorPanel, Pending } from '../../../components/states/states.tsx'
import { ForeignText } from '../../../components/text/foreign-text.tsx'
import { visibleText } from '../../../components/text/visible-text.ts'
import { RelativeTime } from '../../../components/time/relative-time.tsx'
import { parseTenant } from '../../../url-state/tenant.ts'
import { useSearch } from '../../../url-state/use-search.ts'
import styles from '../section.module.css'

const KEYS = ['api-keys']

export default function ApiKeysSection() {
  const keys = useQuery({ queryKey: KEYS, queryFn: ({ signal }) => listKeys(signal) })
  const [dialog, setDialog] = useState<'new' | ApiKey>()
  const tenant = parseTenant(useSearch()) ?? 'default'
  const close = () => setDialog(undefined)
  return (
    <>
      <Panel title="API keys" note={`of tenant ${tenant}`} flush actions={<Button onClick={() => setDialog('new')}>Create a key</Button>}>
        {keys.data === undefined ? (
          keys.isError ? (
            <ErrorPanel small error={keys.error} onRetry={() => keys.refetch()} />
          ) : (
            <Pending what="Reading keys" />
          )
        ) : keys.data.length === 0 ? (
          <EmptyState small icon={IconKey} title="No keys yet">
            <p>Senders outside, which come through the gateway (port {GATEWAY_PORT}), need one. On this machine no key is asked for.</p>
          </EmptyState>
        ) : (
          <DataTable
            label="API keys"
            rows={keys.data}
            rowKey={({ id }) => id}
            columns={[
              {
                key: 'name',
                title: 'Name and key',
                grow: true,
                render: ({ name, prefix, lastUsedAt }) => (
                  <>
                    <ForeignText text={name} />
                    <code className={styles.underneath}>{prefix}</code>
                    <span className={styles.underneath} data-narrow="only">
                      {lastUsedAt === null ? 'never used' : <>used {<RelativeTime time={lastUsedAt} />}</>}
                    </span>
                  </>
                ),
              },
              { key: 'created', title: 'Created', hideWhenNarrow: true, render: ({ createdAt }) => <RelativeTime time={createdAt} /> },
              {
                key: 'used',
                title: 'Last used',
                hideWhenNarrow: true,
                render: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <RelativeTime time={lastUsedAt} />),
              },
              {
                key: 'revoke',
                title: <span className="visually-hidden">Revoke</span>,
                align: 'right',
                render: key => (
                  <Button size="compact-xs" variant="default" onClick={() => setDialog(key)} aria-label={`Revoke ${visibleText(key.name)}`}>
                    Revoke
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Panel>
      <NewKey opened={dialog === 'new'} onClose={close} />
      <Revocation revoked={typeof dialog === 'object' ? dialog : undefined} onClose={close} />
    </>
  )
}

function NewKey({ opened, onClose }: { readonly opened: boolean; readonly onClose: () => void }) {
  const [isCreated, setCreated] = useState(false)
  const close = () => {
    setCreated(false)
    onClose()
  }
  return (
    // A key is shown once: one press of Escape would lose it.
    <Modal opened={opened} onClose={close} title="Create an API key" size="lg" closeOnClickOutside={false} closeOnEscape={!isCreated}>
      {opened && <NewKeyForm onCreated={() => setCreated(true)} onClose={close} />}
    </Modal>
  )
}

function NewKeyForm({ onCreated, onClose }: { readonly onCreated: () => void; readonly onClose: () => void }) {
  const client = useQueryClient()
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: createKey,
    onSuccess() {
      onCreated()
      return client.invalidateQueries({ queryKey: KEYS })
    },
  })
  if (create.data !== undefined) return <Created created={create.data} onClose={onClose} />
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(name)
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Name"
          description="Says later where the key is used"
          placeholder="checkout, production"
          value={name}
          onChange={event => setName(event.currentTarget.value)}
          error={create.isError && problemOf(create.error).message}
          required
          data-autofocus
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending} disabled={name.trim() === ''}>
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Created({ created: { name, key }, onClose }: { readonly created: CreatedKey; readonly onClose: () => void }) {
  const content = useRef<HTMLDivElement>(null)
  // The form that had the focus is gone.
  useEffect(() => content.current?.querySelector('button')?.focus(), [])
  return (
    <Stack ref={content}>
      <Alert color="orange" title="Copy the key now">
        It is shown this one time. Only its digest is kept: nobody can show it again.
      </Alert>
      <Text size="sm">
        Key <ForeignText text={name} />:
      </Text>
      <Command text={key} label="Copy the key" />
      <Text size="sm">To send a record with it{KNOWS_GATEWAY ? '' : ', to the address of your gateway where it is another'}:</Text>
      <Command
        text={`curl -k https://${window.location.hostname}:${GATEWAY_PORT}/v1/logs -H 'content-type: application/json' \\
  -H 'x-service-api-key: ${key}' \\
  -d '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityText":"INFO","body":{"stringValue":"hello"}}]}]}]}'`}
      />
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied it</Button>
      </Group>
    </Stack>
  )
}

function Revocation({ revoked, onClose }: { readonly revoked: ApiKey | undefined; readonly onClose: () => void }) {
  const client = useQueryClient()
  const revoke = useMutation({
    mutationFn: revokeKey,
    onSuccess() {
      notifications.show({ title: 'Revoked', message: `${visibleText(revoked?.name ?? 'The key')} works no more.`, color: 'green' })
      onClose()
    },
    onError: error => notifications.show({ title: 'Not revoked', message: problemOf(error).message, color: 'red' }),
    onSettled: () => client.invalidateQueries({ queryKey: KEYS }),
  })
  return (
    <Modal opened={revoked !== undefined} onClose={onClose} title={`Revoke ${visibleText(revoked?.name ?? '')}?`}>
      <Text size="sm" mb="md">
        Requests with <code>{revoked?.prefix}</code> are refused from now on. This cannot be undone.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Keep it
        </Button>
        <Button color="red" loading={revoke.isPending} onClick={() => revoked !== undefined && revoke.mutate(revoked.id)}>
          Revoke
        </Button>
      </Group>
    </Modal>
  )
}
