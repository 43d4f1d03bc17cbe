// Says that there is newer than what a table shows, while it is open. Without a script the table is what it was when it loaded.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Decision } from '../../../core/live-events.ts'
import { Link } from '../../site/components/link.tsx'
import { listen } from '../browser/lib/events.ts'

export interface NewerProps {
  /** Of the stream of news. */
  readonly address: string
  /** The table once more. */
  readonly to: string
  /** With `{n}` for how many. */
  readonly label: string
  /** Only attempts at this host are counted. */
  readonly host?: string
}

/** More is not counted: somebody who sees it looks anew. */
const MOST = 99

export function Newer({ address, to, label, host }: NewerProps): VNode {
  const [count, setCount] = useState(0)
  useEffect(
    () =>
      listen(
        { address, topics: ['decision'] },
        {
          news(items) {
            const made = items.filter(([, data]) => {
              const decision = data as Decision
              return decision.attempt !== null && (host === undefined || decision.host === host)
            })
            if (made.length > 0) setCount((before) => before + made.length)
          },
        },
      ),
    [address, host],
  )
  return (
    <p role="status" class="console-newer">
      {count > 0 && (
        <Link to={to} class="button">
          {label.replace('{n}', count > MOST ? `${MOST}+` : String(count))}
        </Link>
      )}
    </p>
  )
}
