// What happened, as a line from first to last: each event with its state, its moment, how long after the first it was, and its facts.
import type { VNode } from 'preact'
import type { PageContext } from '../../ports.ts'
import { nameNetwork, type StoryEvent } from '../../story.ts'
import { common } from '../../texts/common.ts'
import type { ReceiptTexts } from '../../texts/receipt.ts'
import { Foreign, Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { State } from '../state.tsx'
import { Transaction, transactionUrl } from '../transaction.tsx'
import { Moment } from './moment.tsx'

interface TimelineProps {
  readonly events: readonly StoryEvent[]
  readonly environment: string
  /** CAIP-2 of the payment; empty where none was made. */
  readonly network: string
  readonly page: PageContext
  readonly texts: ReceiptTexts
}

export function Timeline({ events, environment, network, page, texts }: TimelineProps): VNode {
  const [first] = events.flatMap(({ at }) => (at === undefined ? [] : [Date.parse(at)]))
  return (
    <ol class="timeline">
      {events.map(({ event, at, is, facts }) => {
        const [title, words] = texts.events[event]
        const after = at === undefined || first === undefined ? 0 : Date.parse(at) - first
        return (
          <li data-event={event} class={`is-${is}`}>
            <p class="row between">
              <State is={is} page={page} words={title} />
              {at !== undefined && (
                <span class="muted small">
                  {after > 0 && <Ltr class="offset">{`+${duration(after)}`}</Ltr>}{' '}
                  <Moment at={at} isExact={!at.endsWith('.000Z')} />
                </span>
              )}
            </p>
            <p class="small muted">{words}</p>
            {Object.keys(facts).length > 0 && (
              <dl class="pairs facts">
                {Object.entries(facts).map(([name, value]) => (
                  <Fact {...{ name, value, environment, network, page, texts }} />
                ))}
              </dl>
            )}
          </li>
        )
      })}
    </ol>
  )
}

/** `240 ms`, `3.1 s`, `2 min`, `5 h`, `3 d` */
function duration(millis: number): string {
  if (millis < 1000) return `${millis} ms`
  if (millis < 60_000) return `${(millis / 1000).toFixed(1)} s`
  if (millis < 3_600_000) return `${Math.round(millis / 60_000)} min`
  return millis < 86_400_000 ? `${Math.round(millis / 3_600_000)} h` : `${Math.round(millis / 86_400_000)} d`
}

interface FactProps extends Omit<TimelineProps, 'events'> {
  readonly name: string
  readonly value: string
}

/** Long values that somebody compares or looks up elsewhere. */
const COPIED: ReadonlySet<string> = new Set([
  'request_digest',
  'result_sha256',
  'response_digest',
  'transaction',
  'payer',
  'pay_to',
  'from',
  'to',
])
const PROSE: ReadonlySet<string> = new Set(['reason', 'resource', 'host', 'seller', 'upstream', 'iss'])
const RECEIPTS: ReadonlySet<string> = new Set(['replay_of', 'amends', 'replaced_by'])

function Fact(props: FactProps): VNode {
  const { name, value, page, texts } = props
  const label = texts.facts[name] ?? name
  const t = common[page.language]
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <FactValue {...props} />
        {COPIED.has(name) && (
          <button
            type="button"
            class="copy-inline needs-script"
            data-copy={value}
            data-copied={t.copied}
            aria-label={texts.copyFact.replace('{name}', label)}
          >
            {t.copy}
          </button>
        )}
        {name === 'transaction' && !hasPage(props) && (
          <span class="small muted block">
            {props.environment === 'sandbox' ? texts.noExplorer : texts.noExplorerKnown}
          </span>
        )}
      </dd>
    </>
  )
}

const hasPage = ({ value, network, environment }: FactProps) =>
  transactionUrl(value, network, environment) !== undefined

function FactValue({ name, value, environment, network, page }: FactProps): VNode {
  if (name === 'tool')
    return (
      <Link to={page.href(`/tools/${encodeURIComponent(value)}`)}>
        <Foreign text={value} max={500} class="mono" />
      </Link>
    )
  if (RECEIPTS.has(name))
    return (
      <Link to={page.href(`/receipts/${encodeURIComponent(value)}`)}>
        <Foreign text={value} max={500} class="mono" />
      </Link>
    )
  if (name === 'transaction') return <Transaction hash={value} network={network} environment={environment} />
  if (name === 'network') return <Foreign text={nameNetwork(value)} max={500} />
  return <Foreign text={value} max={500} class={PROSE.has(name) ? '' : 'mono'} />
}
