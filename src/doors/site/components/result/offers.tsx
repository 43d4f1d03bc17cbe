// Offers of product pages, compared where they may be.
import type { VNode } from 'preact'
import { Foreign, Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { More } from './generic.tsx'
import type { ResultLook } from './look.ts'
import { type Members, numberAt, recordAt, recordsAt, say, textAt } from './read.ts'

const MAX_OFFERS = 60

interface OffersProps {
  readonly value: Members
  readonly look: ResultLook
}

/** One row an offer, the cheapest of each group marked (schemas/product-offers.ts). */
export function Offers({ value, look }: OffersProps): VNode {
  const { t } = look
  const cheapest = new Set(
    recordsAt(value, 'groups').flatMap((group) => {
      const [first] = recordsAt(group, 'entries')
      return first ? [`${textAt(first, 'product')} ${numberAt(first, 'offer')}`] : []
    }),
  )
  const reasons = new Map(
    recordsAt(value, 'unranked').map((entry) => [textAt(entry, 'product'), textAt(entry, 'reason')]),
  )
  const rows = recordsAt(value, 'products').flatMap((product) =>
    recordsAt(product, 'offers').map((offer, at) => ({ product, offer, at })),
  )
  if (rows.length === 0) return <p class="muted">{t.empty}</p>
  return (
    <>
      <div class="scrolling" role="region" aria-label={t.offers} tabIndex={0}>
        <table>
          <caption>{t.untrusted}</caption>
          <thead>
            <tr>
              <th scope="col">{t.product}</th>
              <th scope="col">{t.price}</th>
              <th scope="col">{t.availability}</th>
              <th scope="col">{t.seller}</th>
              <th scope="col">{t.identifier}</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MAX_OFFERS).map(({ product, offer, at }) => {
              const [identifier] = recordsAt(product, 'identifiers')
              const id = textAt(product, 'id')
              const reason = reasons.get(id)
              return (
                <tr>
                  <th scope="row">
                    <Link to={textAt(product, 'url') ?? ''} isForeign>
                      <Foreign
                        text={textAt(offer, 'name') ?? textAt(product, 'name') ?? id ?? ''}
                        max={200}
                      />
                    </Link>
                    {at === 0 && reason !== undefined && (
                      <div class="muted small">
                        <Foreign text={say(t.unranked, { reason })} max={120} />
                      </div>
                    )}
                  </th>
                  <td>
                    <Price offer={offer} look={look} />
                    {cheapest.has(`${id} ${at}`) && <span class="tag money">{t.cheapest}</span>}
                  </td>
                  <td>
                    <Foreign text={textAt(offer, 'availability') ?? '–'} max={60} />
                  </td>
                  <td>
                    <Foreign text={textAt(offer, 'seller') ?? '–'} max={120} />
                  </td>
                  <td>{identifier ? <Ltr>{(textAt(identifier, 'value') ?? '').slice(0, 40)}</Ltr> : '–'}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      <More left={rows.length - MAX_OFFERS} look={look} />
    </>
  )
}

function Price({ offer, look }: { readonly offer: Members; readonly look: ResultLook }): VNode {
  const price = moneyOf(recordAt(offer, 'price')) ?? moneyOf(recordAt(offer, 'low_price'))
  const before = moneyOf(recordAt(offer, 'list_price'))
  return (
    <>
      {price === undefined ? '–' : <Ltr class="price">{price}</Ltr>}{' '}
      {before !== undefined && (
        <s class="muted small">
          <Ltr>{before}</Ltr>
          <span class="visually-hidden">
            <Foreign text={say(look.t.was, { price: before })} />
          </span>
        </s>
      )}{' '}
    </>
  )
}

function moneyOf(money: Members): string | undefined {
  const amount = textAt(money, 'amount')
  return amount === undefined ? undefined : `${amount} ${textAt(money, 'currency') ?? ''}`.trim().slice(0, 60)
}
