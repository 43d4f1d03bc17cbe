// The routes of a service: price, what each takes and gives, and a request that works.
import type { VNode } from 'preact'
import type { MarketService } from '../../../../../schemas/market.ts'
import type { PageContext } from '../../ports.ts'
import { marketTexts } from '../../texts/market.ts'
import { Code } from '../code.tsx'
import { Foreign, Ltr } from '../foreign.tsx'
import { SchemaTable } from '../schema-table.tsx'
import { Filled } from './filled.tsx'
import { duration, usdc, visibleCode } from './format.ts'

interface RoutesProps {
  readonly service: MarketService
  readonly page: PageContext
}

/** The first route stands open, the others behind a line each. */
export const Routes = ({ service, page }: RoutesProps): VNode => (
  <div class="routes">
    {service.routes.map((route, at) => (
      <details open={at === 0}>
        <summary>
          <Foreign text={`${route.method} ${route.path}`} max={120} class="mono" />
          <span class="tag money">
            <Filled
              text={marketTexts[page.language].perCall}
              values={{ n: `${usdc(route.price_atomic)} USDC` }}
            />
          </span>
        </summary>
        <Route route={route} page={page} isForeign={service.words_of_seller} />
      </details>
    ))}
  </div>
)

interface RouteProps {
  readonly route: MarketService['routes'][number]
  readonly page: PageContext
  readonly isForeign: boolean
}

function Route({ route, page, isForeign }: RouteProps): VNode {
  const t = marketTexts[page.language]
  const name = `${route.method} ${route.path}`.slice(0, 120)
  return (
    <div class="stack route">
      {route.summary !== '' && (
        <p>
          <Foreign text={route.summary} max={300} />
        </p>
      )}
      <h3>{t.takes}</h3>
      {route.input_schema === null ? (
        <p class="muted">{t.takesNothing}</p>
      ) : (
        <SchemaTable
          schema={route.input_schema}
          page={page}
          label={`${t.takes}: ${name}`}
          kind="input"
          isForeign={isForeign}
        />
      )}
      {route.body_schema !== null && (
        <>
          <h3>{t.takesBody}</h3>
          <SchemaTable
            schema={route.body_schema}
            page={page}
            label={`${t.takesBody}: ${name}`}
            kind="input"
            isForeign={isForeign}
          />
        </>
      )}
      <h3>{t.gives}</h3>
      {route.output_schema === null ? (
        <p class="muted">{t.givesAny}</p>
      ) : (
        <>
          <p class="small muted">{t.notCharged}</p>
          <SchemaTable
            schema={route.output_schema}
            page={page}
            label={`${t.gives}: ${name}`}
            kind="output"
            isForeign={isForeign}
          />
        </>
      )}
      {route.example !== null && <Code text={shown(route.example)} page={page} label={t.example} />}
      <p class="small muted">
        {t.timeAllowed} <Ltr>{duration(route.timeout_ms)}</Ltr>
      </p>
    </div>
  )
}

const MAX_EXAMPLE = 4000
const shown = (example: NonNullable<MarketService['routes'][number]['example']>) => {
  const text = visibleCode(JSON.stringify(example, undefined, 2))
  return text.length > MAX_EXAMPLE ? `${text.slice(0, MAX_EXAMPLE)}…` : text
}
