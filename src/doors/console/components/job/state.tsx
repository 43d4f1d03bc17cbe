// A job as its page shows it: how far it is, why it failed, or what came of it.
import type { ComponentChildren, VNode } from 'preact'
import type { Job } from '../../../../core/jobs.ts'
import { Island } from '../../../site/components/island.tsx'
import { State } from '../../../site/components/state.tsx'
import type { ConsoleContext } from '../../ports.ts'
import { Progress } from './progress.tsx'

interface JobStateProps<R extends object> {
  readonly job: Job<R> | null
  readonly page: ConsoleContext
  /** What is being done. */
  readonly running: string
  readonly failed: string
  readonly never: string
  readonly children: (result: R) => ComponentChildren
}

export function JobState<R extends object>({
  job,
  page,
  running,
  failed,
  never,
  children,
}: JobStateProps<R>): VNode {
  if (!job) return <p class="muted">{never}</p>
  if (job.state === 'running')
    return (
      <Island
        name="console-job"
        page={page}
        component={Progress}
        props={{
          address: page.href('/console/events'),
          id: job.id,
          done: job.done,
          total: job.total,
          label: running,
        }}
      />
    )
  if (job.state === 'failed' || !job.result)
    return (
      <p role="alert">
        <State is="failed" page={page} words={failed} />{' '}
        <span lang="en" dir="ltr">
          {job.error}
        </span>
      </p>
    )
  return <>{children(job.result)}</>
}
