// What a visitor asks of the market, as a form whose answer is an address: it can be kept and sent, and needs no script.
import type { VNode } from 'preact'
import { MARKET_SORTS, type MarketNetwork } from '../../../../../schemas/market.ts'
import type { PageContext } from '../../ports.ts'
import { marketTexts } from '../../texts/market.ts'
import { Link } from '../link.tsx'
import type { Asked, MarketQuestion } from './query.ts'

interface SearchFormProps extends Pick<MarketQuestion, 'values' | 'faults'> {
  readonly page: PageContext
  readonly network: MarketNetwork
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']
const RATES = ['0.9', '0.95', '0.99', '0.999']

export function SearchForm({ values, faults, page, network }: SearchFormProps): VNode {
  const t = marketTexts[page.language]
  const isFiltered = Object.keys(values).some((name) => name !== 'q')
  const field = (name: Asked, control: VNode) => (
    <div class="field">
      <label for={`ask-${name}`}>{t.fields[name]}</label>
      {control}
    </div>
  )
  const text = (name: Asked, extra: Readonly<Record<string, string>> = {}) =>
    field(
      name,
      <input
        id={`ask-${name}`}
        name={name}
        defaultValue={values[name] ?? ''}
        dir="auto"
        maxLength={200}
        {...extra}
        {...(faults.includes(name) && { 'aria-invalid': 'true' as const })}
      />,
    )
  const choice = (name: Asked, chosen: string, options: readonly (readonly [string, string])[]) =>
    field(
      name,
      <select id={`ask-${name}`} name={name}>
        {options.map(([value, words]) => (
          <option value={value} selected={value === chosen}>
            {words}
          </option>
        ))}
      </select>,
    )
  return (
    <form class="market-search" method="get" action={page.href('/marketplace')} role="search">
      <div class="market-words">
        <label for="ask-q" class="visually-hidden">
          {t.search}
        </label>
        <input
          id="ask-q"
          name="q"
          type="search"
          dir="auto"
          placeholder={t.search}
          defaultValue={values.q ?? ''}
          maxLength={200}
        />
        <button class="primary">{t.find}</button>
      </div>
      <details open={isFiltered}>
        <summary>{t.filters}</summary>
        <div class="market-filters">
          {choice(
            'sort',
            values.sort ?? 'relevance',
            MARKET_SORTS.map((sort) => [sort, t.sorts[sort]] as const),
          )}
          {text('max_price', { inputMode: 'decimal', placeholder: '0.05' })}
          {choice('min_success_rate', values.min_success_rate ?? '', [
            ['', t.any],
            ...RATES.map((rate) => [rate, t.atLeast.replace('{n}', `${Number(rate) * 100}%`)] as const),
          ])}
          {choice('method', values.method ?? '', [
            ['', t.any],
            ...METHODS.map((method) => [method, method] as const),
          ])}
          {text('tag')}
          {text('seller')}
          {choice(
            'network',
            network,
            (['eip155:8453', 'eip155:84532'] as const).map((one) => [one, t.networks[one]] as const),
          )}
          <p class="check">
            <input
              type="checkbox"
              id="ask-include"
              name="include"
              value="unavailable"
              defaultChecked={values.include === 'unavailable'}
            />{' '}
            <label for="ask-include">{t.fields.include}</label>
          </p>
          <p class="row">
            <button>{t.apply}</button>
            <Link to={page.href('/marketplace')}>{t.clear}</Link>
          </p>
        </div>
      </details>
    </form>
  )
}
