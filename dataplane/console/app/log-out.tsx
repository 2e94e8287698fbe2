import { ActionIcon, Tooltip } from '@mantine/core'
import { IconLogout } from '@tabler/icons-react'
import { useEffect } from 'react'
import { visibleText } from '../components/text/visible-text.ts'
import { BASE_PATH } from '../url-state/base-path.ts'
import { useSession } from './use-session.ts'

/** Ends the session; nothing where the dashboard asks for no password. A form, as the one that began it: it works without a script, too. */
export function LogOut() {
  const username = useSession()?.username ?? null
  useFreshAfterBack(username !== null)
  if (username === null) return null
  return (
    <form method="post" action={`${BASE_PATH}/logout`}>
      <Tooltip label={visibleText(`Log out ${username}`)}>
        <ActionIcon type="submit" aria-label="Log out" size="md">
          <IconLogout size={17} />
        </ActionIcon>
      </Tooltip>
    </form>
  )
}

/** Browsers keep the page that one left and show it at a step back, also to the next person at this desk: it asks again who that is. */
function useFreshAfterBack(isEnabled: boolean): void {
  useEffect(() => {
    if (!isEnabled) return
    const look = ({ persisted }: PageTransitionEvent) => persisted && window.location.reload()
    window.addEventListener('pageshow', look)
    return () => window.removeEventListener('pageshow', look)
  }, [isEnabled])
}
