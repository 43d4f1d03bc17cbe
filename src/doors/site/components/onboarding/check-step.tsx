// Fourth step: the service is tried as a buyer would, unpaid.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { z } from 'zod'
import type { RouteCheck } from '../../../../../schemas/market-seller.ts'
import { duration } from '../market/format.ts'
import { Foreign, Ltr } from '../foreign.tsx'
import { Scrolling, State } from '../state.tsx'
import { ask, type Refusal } from './call.ts'
import type { Known } from './known.ts'
import { Refused, type StepProps } from './parts.tsx'

interface CheckStepProps extends StepProps {
  readonly known: Known
  readonly learn: (more: Partial<Known>) => void
}

interface Checked {
  readonly ok: boolean
  readonly routes: readonly z.infer<typeof RouteCheck>[]
}

export function CheckStep({ t, language, asking, known, learn }: CheckStepProps): VNode {
  const [why, setWhy] = useState<Refusal>()
  const [isBusy, setBusy] = useState(false)
  const [checked, setChecked] = useState<Checked>()
  const { check } = t

  async function run(): Promise<void> {
    setBusy(true)
    setWhy(undefined)
    const answer = await ask<Checked>(asking, 'POST', '/seller/services/check', {
      service_id: known.listing?.service_id,
    })
    setBusy(false)
    if (!answer.ok) return setWhy(answer.why)
    setChecked(answer.body)
    if (answer.body.ok) learn({ isChecked: true })
  }

  return (
    <>
      {!known.isChecked && <p class="muted">{check.words}</p>}
      <div role="status" class="stack">
        {(checked ?? known.isChecked) && <p>{checked?.ok === false ? check.failed : check.done}</p>}
        {checked && (
          <Scrolling label={check.caption}>
            <table>
              <caption class="visually-hidden">{check.caption}</caption>
              <thead>
                <tr>
                  <th scope="col">{check.route}</th>
                  <th scope="col">{check.state}</th>
                  <th scope="col" class="number">
                    {check.status}
                  </th>
                  <th scope="col" class="number">
                    {check.time}
                  </th>
                  <th scope="col">{check.problem}</th>
                </tr>
              </thead>
              <tbody>
                {checked.routes.map((route) => (
                  <tr>
                    <th scope="row">
                      <Foreign text={`${route.method} ${route.path}`} max={120} class="mono" />
                    </th>
                    <td>
                      <State is={route.ok ? 'done' : 'failed'} page={{ language }} />
                    </td>
                    <td class="number">
                      <Ltr>{String(route.status ?? '–')}</Ltr>
                    </td>
                    <td class="number">
                      <Ltr>{duration(route.duration_ms)}</Ltr>
                    </td>
                    <td>
                      <Foreign text={route.problem ?? '–'} max={500} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scrolling>
        )}
      </div>
      <Refused why={why} />
      {!known.isChecked && (
        <p>
          <button type="button" class="primary" onClick={() => void run()} disabled={isBusy}>
            {check.submit}
          </button>
        </p>
      )}
    </>
  )
}
