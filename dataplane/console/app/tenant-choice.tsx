/** Which tenant the console looks at. */
import { Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core'
import { IconBuilding } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { linkTo } from '../url-state/links.ts'
import { isTenant, parseTenant, TENANT_PARAMETER } from '../url-state/tenant.ts'
import { useSearch } from '../url-state/use-search.ts'

export function TenantChoice() {
  const search = useSearch()
  const [path, navigate] = useLocation()
  const tenant = parseTenant(search)
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('')
  const [problem, setProblem] = useState(false)
  const choose = (next: string | undefined) => {
    navigate(linkTo(search, path, { [TENANT_PARAMETER]: next }))
    setOpen(false)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isTenant(text)) choose(text)
    else setProblem(true)
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} position="top-start" width={280} trapFocus returnFocus shadow="md">
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          fullWidth
          justify="flex-start"
          leftSection={<IconBuilding size={16} aria-hidden />}
          onClick={() => setOpen(open => !open)}
          title={`The tenant that the console looks at: ${tenant ?? 'all tenants'}`}
          data-chosen={tenant !== undefined}
        >
          {tenant ?? 'All tenants'}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Tenant">
        {isOpen && (
          <form onSubmit={submit}>
            <Stack gap="xs">
              <TextInput
                label="Look at one tenant"
                placeholder="default"
                value={text}
                onChange={event => {
                  setText(event.currentTarget.value)
                  setProblem(false)
                }}
                error={problem && 'Expected lower-case letters, digits and hyphens, such as shop-eu'}
              />
              <Text size="xs" c="dimmed">
                Without one you see the logs and incidents of all tenants.
              </Text>
              <Group justify="space-between">
                <Button variant="default" disabled={tenant === undefined} onClick={() => choose(undefined)}>
                  All tenants
                </Button>
                <Button type="submit">Show</Button>
              </Group>
            </Stack>
          </form>
        )}
      </Popover.Dropdown>
    </Popover>
  )
}
