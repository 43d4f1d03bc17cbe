// What the figures of a service were computed from: paid calls with their transactions, ratings, and the address of each number.
import type { VNode } from 'preact'
import type { MarketDetail } from '../../../../../schemas/market.ts'
import type { PageContext } from '../../ports.ts'
import { marketTexts } from '../../texts/market.ts'
import { Foreign, Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { Scrolling } from '../state.tsx'
import { Transaction } from '../transaction.tsx'
import { dateOf, fill, timeOf, usdc } from './format.ts'

interface EvidenceProps {
  readonly detail: MarketDetail
  readonly page: PageContext
  readonly source: string
}

const MAX_CALLS = 12

/** The newest paid calls. */
export function PaidCalls({ detail, page, source }: EvidenceProps): VNode {
  const t = marketTexts[page.language]
  if (detail.calls.length === 0) return <p class="muted">{t.noCallsYet}</p>
  return (
    <>
      <Scrolling label={t.callsCaption}>
        <table>
          <caption>{t.callsCaption}</caption>
          <thead>
            <tr>
              <th scope="col">{t.when}</th>
              <th scope="col">{t.route}</th>
              <th scope="col" class="number">
                USDC
              </th>
              <th scope="col">{t.transaction}</th>
              <th scope="col">{t.counts}</th>
            </tr>
          </thead>
          <tbody>
            {detail.calls.slice(0, MAX_CALLS).map((call) => (
              <tr>
                <td class="nowrap">
                  <Ltr>{call.settled_at === null ? '–' : timeOf(call.settled_at)}</Ltr>
                </td>
                <td class="nowrap">
                  <Foreign text={call.route} max={60} class="mono" />
                </td>
                <td class="number">
                  <Ltr>{usdc(call.amount_atomic)}</Ltr>
                </td>
                <td class="nowrap">
                  {call.transaction === null ? (
                    '–'
                  ) : (
                    <Transaction
                      hash={call.transaction}
                      network={detail.network}
                      environment={page.isSandbox ? 'sandbox' : 'production'}
                    />
                  )}
                </td>
                <td>{call.excluded === null ? t.countsYes : t.excludedKinds[call.excluded]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
      <p class="small">
        <Link to={`${source}#/calls`}>{t.allCalls}</Link>
      </p>
    </>
  )
}

/** Words of buyers. */
export function Ratings({ detail, page }: EvidenceProps): VNode {
  const t = marketTexts[page.language]
  if (detail.ratings.length === 0) return <p class="muted">{t.noRatings}</p>
  return (
    <>
      <p class="small muted">{t.ratingWords}</p>
      <ul class="ratings">
        {detail.ratings.map(({ rating, words, counts, created_at }) => (
          <li>
            <p>
              <strong>{fill(t.stars, { n: rating })}</strong>{' '}
              <span class="stars" aria-hidden="true">
                {'●'.repeat(rating)}
                {'○'.repeat(5 - rating)}
              </span>{' '}
              <span class="small muted">
                <Ltr>{dateOf(created_at)}</Ltr>
                {!counts && ` · ${t.notCounted}`}
              </span>
            </p>
            {words !== null && (
              <p>
                <Foreign text={words} max={1000} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

/** A tool that takes a POST cannot be followed: its page can. */
const readable = (address: string, page: EvidenceProps['page']) =>
  address === `${page.baseUrl}/v1/test` ? page.href('/test') : address

/** Where each number was computed from. */
export function Sources({ detail, page }: EvidenceProps): VNode {
  const t = marketTexts[page.language]
  return (
    <Scrolling label={t.sourcesCaption}>
      <table>
        <caption class="visually-hidden">{t.sourcesCaption}</caption>
        <thead>
          <tr>
            <th scope="col">{t.figure}</th>
            <th scope="col">{t.source}</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(detail.computed_from).map(([figure, addresses]) => (
            <tr>
              <th scope="row" class="nowrap">
                <code dir="ltr">{figure}</code>
              </th>
              <td class="nowrap">
                {addresses.map((address) => (
                  <Link to={readable(address, page)} isForeign class="block">
                    <Ltr class="mono">{address.replace(page.baseUrl, '')}</Ltr>
                  </Link>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  )
}
