/** The console: theme, data, shell, and the page of the URL. */
import { MantineProvider, useComputedColorScheme } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { Suspense, useLayoutEffect, useMemo } from 'react'
import { Route, Router, Switch } from 'wouter'
import { PageBoundary } from '../components/layout/page-boundary.tsx'
import { usePrinting } from '../components/layout/use-printing.ts'
import { StaleProvider } from '../components/states/stale.tsx'
import { EmptyState, Pending } from '../components/states/states.tsx'
import { useShowsUtc } from '../components/time/use-shows-utc.ts'
import { UploadsProvider } from '../pages/upload/uploads.tsx'
import { BASE_PATH } from '../url-state/base-path.ts'
import { parseTenant } from '../url-state/tenant.ts'
import { useSearch } from '../url-state/use-search.ts'
import { createQueryClient } from './query-client.ts'
import { type PageRoute, ROUTES } from './routes.ts'
import { Shell } from './shell.tsx'
import { cssVariables, theme } from './theme.ts'

export function App() {
  const tenant = parseTenant(useSearch())
  const isPrinting = usePrinting()
  // biome-ignore lint/correctness/useExhaustiveDependencies: what one tenant has must not show for another
  const client = useMemo(createQueryClient, [tenant])
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      // Paper is white: a dark page would be all ink.
      {...(isPrinting && { forceColorScheme: 'light' })}
    >
      <EarlyScheme />
      <QueryClientProvider client={client}>
        <Notifications position="bottom-right" />
        <StaleProvider>
          <UploadsProvider>
            <Router base={BASE_PATH}>
              <Shell>
                <Switch>
                  {ROUTES.map(route => (
                    <Route key={route.href} path={route.pattern}>
                      <PageContent route={route} />
                    </Route>
                  ))}
                  <Route>
                    <h1 className="visually-hidden">No page at this address</h1>
                    <EmptyState title="There is no such page">
                      <p>The address may be mistyped; the pages stand in the navigation.</p>
                    </EmptyState>
                  </Route>
                </Switch>
              </Shell>
            </Router>
          </UploadsProvider>
        </StaleProvider>
      </QueryClientProvider>
    </MantineProvider>
  )
}

/** Mantine names the scheme to the page behind the effects of its parts: charts, which read colours there, would draw with those of before. */
function EarlyScheme(): null {
  const scheme = useComputedColorScheme(undefined, { getInitialValueInEffect: false })
  useLayoutEffect(() => {
    document.documentElement.dataset['mantineColorScheme'] = scheme
  }, [scheme])
  return null
}

function PageContent({ route: { title, Content } }: { readonly route: PageRoute }) {
  // Another clock: all of the page is drawn again, and keeps its state.
  useShowsUtc()
  // Before the effects of the page, which may add what it shows.
  useLayoutEffect(() => {
    document.title = `${title} · logpipeline`
  }, [title])
  return (
    <PageBoundary key={title} title={title}>
      <Suspense fallback={<Pending />}>
        <Content />
      </Suspense>
    </PageBoundary>
  )
}
