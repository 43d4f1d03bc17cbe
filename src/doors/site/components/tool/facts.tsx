// What a tool's page says beside its words: price, who may call it, its names at the doors, effects and limits.
import type { ComponentChildren, VNode } from 'preact'
import type { ToolFacts } from '../../tool-facts.ts'
import { priceTexts } from '../../texts/price.ts'
import { type ToolTexts, toolTexts } from '../../texts/tool.ts'
import type { PageContext } from '../../ports.ts'
import { Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { Price } from '../price.tsx'

interface FactsProps {
  readonly tool: ToolFacts
  readonly page: PageContext
}

/** A list of pairs. */
export function Facts({ tool, page }: FactsProps): VNode {
  const t = toolTexts[page.language]
  const { doors, routes, skills, effects, limits } = tool
  const has = (door: string) => doors.includes(door)
  return (
    <dl class="pairs">
      <Pair name={t.price}>
        <Price price={tool.price} page={page} isExplained />
      </Pair>
      <Pair name={t.who}>{priceTexts[page.language].who[tool.caller]}</Pair>
      {has('rest') && (
        <Pair name={t.names.rest}>
          {routes.map(({ method, path }) => (
            <div>
              <code dir="ltr">{`${method} ${path}`}</code>
            </div>
          ))}
        </Pair>
      )}
      {has('mcp') && (
        <Pair name={t.names.mcp}>
          <code dir="ltr">{tool.portable_name}</code>
        </Pair>
      )}
      {has('a2a') && (
        <Pair name={t.names.a2a}>
          {skills.map(({ id }, at) => [at > 0 && ' ', <code dir="ltr">{id}</code>])}
        </Pair>
      )}
      <Pair name={t.effects}>
        {effectWords(effects, t).map((words) => (
          <div>{words}</div>
        ))}
      </Pair>
      <Pair name={t.limit.body}>
        <Ltr>{`${limits.max_body_bytes / 1024} KiB`}</Ltr>
      </Pair>
      <Pair name={t.limit.duration}>
        {t.limit.seconds.replace('{a}', String(limits.max_duration_ms / 1000))}
      </Pair>
      {tool.caller === 'anyone' && <Rate name={t.limit.perAddress} of={limits.per_minute.address} t={t} />}
      <Rate name={t.limit.perToken} of={limits.per_minute.token} t={t} />
      <Pair name={t.limits}>
        <Link to={page.href('/docs/limits')}>{t.limit.all}</Link>
      </Pair>
    </dl>
  )
}

const Rate = ({
  name,
  of,
  t,
}: {
  readonly name: string
  readonly of: number | null
  readonly t: ToolTexts
}) => <Pair name={name}>{of === null ? t.limit.unlimited : of.toLocaleString('en')}</Pair>

const Pair = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

/** What a call changes, in a sentence or two. */
function effectWords(
  { readOnly, destructive, idempotent, openWorld }: ToolFacts['effects'],
  t: ToolTexts,
): string[] {
  const change = readOnly
    ? t.effect.readOnly
    : destructive
      ? t.effect.destructive
      : idempotent
        ? t.effect.idempotent
        : t.effect.changes
  return openWorld ? [change, t.effect.openWorld] : [change]
}
