import { Component, type ReactNode } from 'react'
import { describeFailure, RequestProblem } from '../../api/problem.ts'
import { ErrorPanel } from '../states/states.tsx'
import { Page } from './panel.tsx'

export interface PageBoundaryProps {
  /** Stands above the failure; none where the page's own title stays. */
  readonly title?: string
  readonly children: ReactNode
}

interface State {
  readonly error?: unknown
}

const PATIENCE_MS = 10_000

/** A page, or a part of one, that fails says so; what stands around it stays. */
export class PageBoundary extends Component<PageBoundaryProps, State> {
  override state: State = {}

  static getDerivedStateFromError(error: unknown): State {
    return { error }
  }

  override render() {
    if (!('error' in this.state)) return this.props.children
    const { title } = this.props
    const panel = <ErrorPanel error={this.state.error} onRetry={() => this.#retry()} />
    return title === undefined ? panel : <Page title={title}>{panel}</Page>
  }

  /** The console is loaded anew where there is an answer. Without one the browser's own error page would take its place. */
  async #retry(): Promise<void> {
    if (await isServed()) window.location.reload()
    else this.setState({ error: new RequestProblem(describeFailure('/', { kind: 'network' })) })
  }
}

async function isServed(): Promise<boolean> {
  const asked = { method: 'HEAD', headers: { accept: 'text/html' }, cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS) } as const
  const answer = await fetch(window.location.href, asked).catch(() => undefined)
  // A refusal counts: where a session has ended, the page leads to the login.
  return answer !== undefined && answer.status < 500
}
