import { Component, type ReactNode } from 'react'
import { ErrorPanel } from '../components/states.tsx'

/** A page that fails says so; the navigation stays. */
export class PageBoundary extends Component<{ readonly children: ReactNode }, { readonly error?: unknown }> {
  override state: { readonly error?: unknown } = {}

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    if (!('error' in this.state)) return this.props.children
    return <ErrorPanel error={this.state.error} onRetry={() => this.setState({}, () => window.location.reload())} />
  }
}
