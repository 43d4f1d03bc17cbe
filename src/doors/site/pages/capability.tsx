// A capability of the catalogue: a whole result that is bought or tried, with the facts of its descriptor and the call of its tool.
import type { VNode } from 'preact'
import { hasPlaceholder, snippetsOf } from '../../../documents/snippets.ts'
import { sampleOf } from '../../../documents/sample.ts'
import { Code, Prose } from '../components/code.tsx'
import { English, inEnglish } from '../components/english.tsx'
import { Link } from '../components/link.tsx'
import { Price, type PriceFacts } from '../components/price.tsx'
import { Shapes } from '../components/tool/shapes.tsx'
import { type ShownExample, ToolExamples } from '../components/tool/examples.tsx'
import { type Missing, MissingView } from '../components/tool/missing.tsx'
import { capabilitiesOf, type Capability, type Descriptor } from '../capability-facts.ts'
import { nearestNames } from '../nearest-names.ts'
import { TryIt } from '../components/try-it.tsx'
import type { TryFacts, TryState } from '../components/try/facts.ts'
import { tryFacts, tryTool } from '../trying.ts'
import { definePage, type PageContext, type PageRequest, type SiteParts } from '../ports.ts'
import { catalogueTexts } from '../texts/catalogue.ts'
import { toolTexts } from '../texts/tool.ts'
import { type ErrorFacts, toolFacts } from '../tool-facts.ts'

/** An entry of the catalogue, and what its page says besides. */
interface CapabilityData extends Descriptor {
  readonly price: PriceFacts
  /** The tool that carries it out. */
  readonly tool: string
  readonly try_it: { readonly facts: TryFacts | undefined; readonly state: TryState | undefined }
  readonly example_call: ShownExample
  readonly errors: readonly ErrorFacts[]
  readonly sample_output: unknown
  /** A free, labelled sample is asked for with this; null where there is none. */
  readonly sample_input: Readonly<Record<string, unknown>> | null
}

export const page = definePage<CapabilityData | Missing>({
  isWide: true,
  isFixed: 'by path',
  async load(request) {
    const { site, params } = request
    const id = params['id'] ?? ''
    const known = capabilitiesOf(site)
    const capability = known.find(({ descriptor }) => descriptor.id === id)
    return capability ? describe(capability, request) : missing(id, known, site)
  },
  status: (data) => ('status' in data ? data.status : 200),
  title: (data, { language }) => ('status' in data ? toolTexts[language].unknownCapability : data.name),
  description: (data) => ('status' in data ? '' : data.description),
  View: ({ data, page }) =>
    'status' in data ? (
      <MissingView data={data} page={page} title={toolTexts[page.language].unknownCapability} />
    ) : (
      <CapabilityView data={data} page={page} />
    ),
})

async function describe(
  { descriptor, entry, price }: Capability,
  request: PageRequest,
): Promise<CapabilityData> {
  const { site } = request
  const { id, example } = descriptor
  const { errors } = toolFacts(entry, site)
  return {
    ...descriptor,
    price,
    tool: entry.tool.name,
    try_it: {
      facts: tryFacts(entry, site.config.mode),
      state: await tryTool(request, entry, { ...example }),
    },
    example_call: {
      at: 0,
      titles: [descriptor.name],
      snippets: snippetsOf(entry, site.addresses, example),
      has_placeholder: hasPlaceholder(example),
      is_paid: price.kind === 'x402',
      token_variable: null,
    },
    errors: price.kind === 'x402' ? errors : errors.filter(({ is_of_payment: isOfPayment }) => !isOfPayment),
    sample_output: sampleOf(descriptor.output_schema),
    sample_input: id === entry.tool.name ? null : { capability: id, intent: 'demo' },
  }
}

function missing(
  id: string,
  known: readonly Capability[],
  { addresses: { baseUrl } }: Pick<SiteParts, 'addresses'>,
): Missing {
  const names = new Map(known.map(({ descriptor }) => [descriptor.id, descriptor.name]))
  const nearest = nearestNames(id, names).map((name) => ({
    name,
    title: names.get(name) ?? name,
    path: `/capabilities/${name}`,
  }))
  return {
    type: `${baseUrl}/problems/not_found`,
    status: 404,
    code: 'not_found',
    title: toolTexts.en.unknownCapability,
    detail: `Use one of: ${[...names.keys()].join(', ')}.`,
    wanted: id,
    nearest,
  }
}

function CapabilityView({
  data,
  page,
}: {
  readonly data: CapabilityData
  readonly page: PageContext
}): VNode {
  const t = toolTexts[page.language]
  const isPaid = data.price.kind === 'x402'
  const byTool = t.byTool.split('{a}')
  return (
    <>
      <header class="stack">
        <p class="eyebrow">
          <Link to={page.href('/catalogue')}>{t.catalogue}</Link> ·{' '}
          <Link to={page.href('/catalogue#capabilities')}>{catalogueTexts[page.language].capabilities}</Link>
        </p>
        <h1>
          <English text={data.name} page={page} />
        </h1>
        <p class="row">
          <code dir="ltr">{data.id}</code>
          <Price price={data.price} page={page} isExplained />
          <span class="small muted">
            {byTool[0]}
            <Link to={page.href(`/tools/${data.tool}`)}>
              <code dir="ltr">{data.tool}</code>
            </Link>
            {byTool[1]}
          </span>
        </p>
        <English text={data.description} page={page} as="p" class="lead" />
      </header>
      <div class="tool-columns">
        <div class="stack">
          <section class="stack" aria-labelledby="try">
            <h2 id="try">{t.tryIt}</h2>
            <TryIt facts={data.try_it.facts} state={data.try_it.state} page={page} />
          </section>
        </div>
        <aside class="stack">
          <ToolExamples example={data.example_call} page={page} path={`/capabilities/${data.id}`} />
          {data.sample_input && (
            <div class="stack">
              <h3>{t.freeSample}</h3>
              <Code
                page={page}
                label="curl"
                text={`curl -sS ${data.execute_url} \\\n  -H 'content-type: application/json' \\\n  -d '${JSON.stringify(data.sample_input)}'`}
              />
            </div>
          )}
        </aside>
        <div class="stack">
          <section class="stack" aria-labelledby="use">
            <h2 id="use">{t.whenToUse}</h2>
            <English text={data.when_to_use} page={page} as="p" />
          </section>
          <section class="stack" aria-labelledby="get">
            <h2 id="get">{t.whatYouGet}</h2>
            <English text={String(data.pricing['delivered'])} page={page} as="p" />
          </section>
          <section class="stack" aria-labelledby="price">
            <h2 id="price">{t.price}</h2>
            <p>
              {isPaid && (
                <>
                  <English
                    text={`${data.pricing['amount']} ${data.pricing['currency']} for one ${data.pricing['unit']}.`}
                    page={page}
                  />{' '}
                </>
              )}
              {isPaid ? t.paidHow : t.freeHow} <Link to={page.href('/docs/payments')}>{t.howPaid}</Link>
            </p>
          </section>
          <section class="stack" aria-labelledby="limits">
            <h2 id="limits">{t.limits}</h2>
            <ul {...inEnglish(page)}>
              {data.limitations.map((words) => (
                <li>
                  <Prose text={words} />
                </li>
              ))}
            </ul>
            <English text={data.latency_note} page={page} as="p" class="muted" />
          </section>
          <Shapes data={data} page={page} link={t.capabilityJson} />
        </div>
      </div>
    </>
  )
}
