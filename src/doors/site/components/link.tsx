// The only element of the site that leads somewhere. An address that a stranger wrote leads there only with a scheme that runs nothing:
// Preact writes `javascript:` into a page like any other text.
import type { VNode } from 'preact'
import type { Children } from '../ports.ts'

const OWN = /^(?:\/(?![/\\])|#|\?)/

/** Whether following the address runs nothing: a path or part of this site, or https, http, mailto elsewhere. */
export function isSafeAddress(address: string): boolean {
  if (OWN.test(address)) return true
  try {
    return ['https:', 'http:', 'mailto:'].includes(new URL(address).protocol)
  } catch {
    return false
  }
}

/** Links of our own that start a program with what is in them; no stranger's address is ever one. */
const PROGRAM = /^(?:cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?|vscode:mcp\/install\?)/

interface LinkProps extends Children {
  readonly to: string
  readonly class?: string
  /** A stranger wrote it: search engines are told, and the other site learns nothing of this one. */
  readonly isForeign?: boolean
  readonly download?: boolean
  /** We wrote the address, and it starts a program. */
  readonly opensProgram?: boolean
  readonly current?: boolean
  readonly lang?: string
  readonly label?: string
}

/** A link, or its words alone where the address is none that may be followed. */
export function Link({ to, isForeign, opensProgram, current, label, children, ...others }: LinkProps): VNode {
  const isOurs = opensProgram === true && !isForeign && PROGRAM.test(to)
  if (!isOurs && !isSafeAddress(to)) return <span class={others.class}>{children}</span>
  return (
    <a
      href={to}
      {...others}
      {...(label !== undefined && { 'aria-label': label })}
      {...(current && { 'aria-current': 'page' as const })}
      {...(isForeign && { rel: 'noopener noreferrer nofollow ugc' })}
    >
      {children}
    </a>
  )
}
