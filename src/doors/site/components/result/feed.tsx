// Entries of feeds, newest first.
import type { VNode } from 'preact'
import { Foreign, Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { More } from './generic.tsx'
import type { ResultLook } from './look.ts'
import { type Members, numberAt, recordsAt, textAt } from './read.ts'

const MAX_ENTRIES = 30

interface FeedProps {
  readonly value: Members
  readonly look: ResultLook
}

/** A digest as a list (schemas/feed-digest.ts). */
export function Feed({ value, look }: FeedProps): VNode {
  const feeds = recordsAt(value, 'feeds')
  const entries = recordsAt(value, 'entries')
  if (entries.length === 0) return <p class="muted">{look.t.empty}</p>
  return (
    <>
      <p class="muted small">{look.t.untrusted}</p>
      <ol class="feed">
        {entries.slice(0, MAX_ENTRIES).map((entry) => {
          const feed = feeds[numberAt(entry, 'source') ?? -1]
          const day = textAt(entry, 'published_at')?.slice(0, 10)
          const summary = textAt(entry, 'summary')
          return (
            <li>
              <Link to={textAt(entry, 'url') ?? ''} isForeign>
                <Foreign text={textAt(entry, 'title') ?? textAt(entry, 'url') ?? '–'} max={300} />
              </Link>
              <p class="muted small row">
                {day !== undefined && <Ltr>{day}</Ltr>}
                <Foreign text={textAt(feed, 'title') ?? textAt(feed, 'url') ?? ''} max={120} />
              </p>
              {summary !== undefined && (
                <p>
                  <Foreign text={summary} max={400} />
                </p>
              )}
            </li>
          )
        })}
      </ol>
      <More left={entries.length - MAX_ENTRIES} look={look} />
    </>
  )
}
