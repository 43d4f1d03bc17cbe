// How far a job is. With a script it moves, and the page is loaded again when it has ended; without one it is what it was.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { listen } from '../../browser/lib/events.ts'

export interface ProgressProps {
  /** Of the stream of news. */
  readonly address: string
  readonly id: string
  readonly done: number
  readonly total: number | null
  /** What is being done. */
  readonly label: string
}

interface News {
  readonly id: string
  readonly state: 'running' | 'done' | 'failed'
  readonly done: number
  readonly total: number | null
}

export function Progress({ address, id, label, ...start }: ProgressProps): VNode {
  const [at, setAt] = useState<Pick<News, 'done' | 'total'>>(start)
  useEffect(
    () =>
      listen(
        { address, topics: ['job'] },
        {
          news(items) {
            for (const [, data] of items) {
              const news = data as News
              if (news.id !== id) continue
              if (news.state !== 'running') return location.reload()
              setAt(news)
            }
          },
          gap: () => location.reload(),
          // It may have ended before anybody listened.
          state: (state) => state === 'open' && void check(),
        },
      ),
    [address, id],
  )
  const share = at.total ? Math.min(at.done / at.total, 1) : undefined
  return (
    <p class="job-progress" role="status">
      <span>
        {label}
        {share !== undefined && <bdi dir="ltr"> {Math.floor(share * 100)} %</bdi>}
      </span>
      <progress max={1} {...(share !== undefined && { value: share })} aria-label={label} />
    </p>
  )
}

/** Loads the page again where the job has ended already. */
async function check(): Promise<void> {
  const answer = await fetch(location.href, { headers: { accept: 'application/json' } }).catch(
    () => undefined,
  )
  if (!answer?.ok) return
  const { job } = (await answer.json()) as { readonly job?: { readonly state: string } | null }
  if (job && job.state !== 'running') location.reload()
}
