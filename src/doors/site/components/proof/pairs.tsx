// The members of a signed document as pairs. Its texts are anybody's; moments are shown as such beside the number that was signed.
import type { VNode } from 'preact'
import { isObject } from '../../../../lib/json.ts'
import { Foreign, Ltr } from '../foreign.tsx'
import { Moment } from './moment.tsx'

const MOMENTS: ReadonlySet<string> = new Set(['iat', 'exp', 'nbf', 'issuedAt', 'validUntil'])
const MAX_ROWS = 120
const MAX_DEPTH = 5
const MAX_SHOWN = 600

interface PairsProps {
  readonly value: Readonly<Record<string, unknown>>
}

/** Nested members by their path: `request.host`. Lists, and what is nested deeper than anybody reads, as JSON. */
export function Pairs({ value }: PairsProps): VNode {
  const rows = flatten(value)
  return (
    <dl class="pairs claims">
      {rows.slice(0, MAX_ROWS).map(([path, member]) => (
        <>
          <dt>
            <Foreign text={path} max={80} class="mono" />
          </dt>
          <dd>
            <Value name={path} value={member} />
          </dd>
        </>
      ))}
      {rows.length > MAX_ROWS && <dd>…</dd>}
    </dl>
  )
}

function Value({ name, value }: { readonly name: string; readonly value: unknown }): VNode {
  if (typeof value === 'string') return <Foreign text={value} max={MAX_SHOWN} />
  if (typeof value === 'number' && MOMENTS.has(name) && Math.abs(value) < 8.64e12)
    return (
      <>
        <Ltr class="mono">{String(value)}</Ltr>{' '}
        <span class="muted">
          <Moment at={new Date(value * 1000).toISOString()} />
        </span>
      </>
    )
  if (typeof value === 'object' && value !== null)
    return <Foreign text={jsonOf(value)} max={MAX_SHOWN} class="mono" />
  return <Ltr class="mono">{String(value)}</Ltr>
}

/** The parser reads lists nested deeper than the writer can follow: a pasted document, or one in a link, may hold them. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return '…'
  }
}

function flatten(
  value: Readonly<Record<string, unknown>>,
  at: readonly string[] = [],
): (readonly [string, unknown])[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const path = [...at, name]
    return isObject(member) && path.length < MAX_DEPTH && Object.keys(member).length > 0
      ? flatten(member, path)
      : [[path.join('.'), member] as const]
  })
}
