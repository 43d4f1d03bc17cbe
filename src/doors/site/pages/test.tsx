// A transaction tested before it is sent, and the badge of a service that was tested by us.
import { type GatewayError, toGatewayError } from '../../../core/errors.ts'
import { Code } from '../components/code.tsx'
import { Foreign } from '../components/foreign.tsx'
import { Inspector, type Refusal } from '../components/inspect/inspector.tsx'
import { readPaste } from '../components/inspect/pasted.ts'
import type { Tested } from '../components/inspect/report.tsx'
import { Island } from '../components/island.tsx'
import { Link } from '../components/link.tsx'
import { definePage, type PageContext, type PageRequest } from '../ports.ts'
import { SAMPLE_NAMES, type SampleName, transactionSample } from '../samples.ts'
import { inspectTexts } from '../texts/inspect.ts'
import type { TestReport, InspectResult } from '../../../../schemas/commerce.ts'

interface TestData {
  readonly text: string
  readonly tested: Tested | null
  readonly refusal: Refusal | null
  /** Why there is no report, in words of the page; null where there is one, or the gateway says why. */
  readonly fault: 'empty' | 'unreadable' | 'no_target' | null
  readonly status: number
  readonly badge: Badge | null
  /** Services that have a badge, at most 50. */
  readonly services: readonly string[]
}

interface Badge {
  readonly service: string
  readonly name: string
  readonly score: number | null
  readonly image: string
  readonly about: string
}

const MAX_CHOICES = 50

export const page = definePage<TestData>({
  isWide: true,
  async load(request) {
    const { form, query, site } = request
    const badges = await badgesOf(request)
    const nothing = { text: '', tested: null, refusal: null, fault: null, status: 200, ...badges }
    const sample = query.get('sample')
    if (form) return { ...nothing, ...(await test(request, form.get('transaction') ?? '')) }
    if (isSample(sample))
      return { ...nothing, ...(await test(request, transactionSample(sample, site.now()))) }
    return { ...nothing, status: badges.badge === null && query.has('badge') ? 404 : 200 }
  },
  title: (_data, { language }) => inspectTexts[language].title,
  description: (_data, { language }) => inspectTexts[language].description,
  status: ({ status }) => status,
  View({ data, page }) {
    const t = inspectTexts[page.language]
    const { text, tested, fault } = data
    const refusal = fault === null ? data.refusal : { ...NO_PROBLEM, title: t.faults[fault] }
    return (
      <>
        <h1>{t.title}</h1>
        <p class="lead">{t.lead}</p>
        <p class="muted">
          {t.promise} <Link to={page.href('/docs/inspection')}>{t.guide}</Link> ·{' '}
          <Link to={page.href('/v1/test/schema')}>{t.method}</Link>
        </p>
        <Island
          name="inspector"
          page={page}
          component={Inspector}
          props={{
            text,
            tested,
            refusal: refusal && { ...refusal, title: refusal.title || t.faults.failed },
            action: `${page.href('/test')}#result`,
            api: page.api,
            problem: page.href('/problems/code').replace(/code$/, '{code}'),
            language: page.language,
            samples: SAMPLE_NAMES.map((name) => ({
              name,
              title: t.sample[name],
              href: `${page.href('/test')}?sample=${name}`,
            })),
            t,
          }}
        />
        <BadgeSection data={data} page={page} />
      </>
    )
  },
})

const NO_PROBLEM: Refusal = { title: '', detail: null, code: null, request_id: null }

const isSample = (name: string | null): name is SampleName => SAMPLE_NAMES.some((known) => known === name)

type Outcome = Pick<TestData, 'text' | 'tested' | 'refusal' | 'fault' | 'status'>

/** Both tools are called as any caller would, so that limits and refusals are theirs. */
async function test({ site, visitor }: PageRequest, text: string): Promise<Outcome> {
  const read = readPaste(text)
  if (!read.ok) return { text, tested: null, refusal: null, fault: read.fault, status: 400 }
  const { evaluate_at: _at, tool_annotations: _hints, ...bare } = read.pasted.transaction
  const call = async (name: string, input: unknown) => {
    const tool = site.registry.find(name)?.tool
    if (!tool) throw new Error(`no tool ${name}`)
    return site.calls.call({ tool, input, door: 'rest', tokens: {}, ...visitor })
  }
  const [test, inspect] = await Promise.all([
    call('gateway.test', read.pasted.transaction),
    call('gateway.inspect', bare),
  ])
  for (const result of [test, inspect]) if (!result.ok) return refused(text, result.error, visitor.requestId)
  if (!test.ok || !inspect.ok) throw new Error('unreachable: both were delivered')
  const tested = { text, test: test.output as TestReport, inspect: inspect.output as InspectResult }
  return { text, tested, refusal: null, fault: null, status: 200 }
}

function refused(text: string, thrown: GatewayError, requestId: string): Outcome {
  const { code, message, status } = toGatewayError(thrown)
  return {
    text,
    tested: null,
    refusal: { title: '', detail: message, code, request_id: requestId },
    fault: null,
    status,
  }
}

/** Scores that this gateway computed itself: what the marketplace says of its services. */
async function badgesOf({ site, query }: PageRequest): Promise<Pick<TestData, 'badge' | 'services'>> {
  const sold = (await site.marketplace?.sold()) ?? []
  const services = sold.slice(0, MAX_CHOICES).map(({ seller, service_id }) => `${seller}/${service_id}`)
  const wanted = query.get('badge')
  const service = sold.find(({ seller, service_id }) => `${seller}/${service_id}` === wanted)
  if (!service) return { badge: null, services }
  const path = `${encodeURIComponent(service.seller)}/${encodeURIComponent(service.service_id)}`
  return {
    services,
    badge: {
      service: `${service.seller}/${service.service_id}`,
      name: service.name,
      score: service.stats.challenge_score,
      image: `${site.addresses.siteUrl}/badges/${path}`,
      about: `${site.addresses.siteUrl}/marketplace/${path}`,
    },
  }
}

function BadgeSection({ data, page }: { readonly data: TestData; readonly page: PageContext }) {
  const t = inspectTexts[page.language].badge
  const { badge, services } = data
  const alt = t.alt.replace('{host}', new URL(page.baseUrl).host)
  return (
    <section class="stack badge" aria-labelledby="badge">
      <h2 id="badge">{t.title}</h2>
      <p class="reading">{t.lead}</p>
      {services.length === 0 ? (
        <p>
          {t.none} <Link to={page.href('/marketplace/sell')}>{t.sell}</Link>
        </p>
      ) : (
        <form method="get" action={`${page.href('/test')}#badge`} class="row">
          <span class="field">
            <label for="service">{t.choose}</label>
            <select id="service" name="badge" dir="ltr">
              {services.map((service) => (
                <option value={service} selected={service === badge?.service}>
                  {service}
                </option>
              ))}
            </select>
          </span>
          <button type="submit">{t.show}</button>
        </form>
      )}
      {badge === null && data.status === 404 && <p class="notice warns">{t.missing}</p>}
      {badge && (
        <div class="stack">
          <p class="row">
            <span class="muted small">{t.preview}</span>
            <img src={page.href(`/badges/${badge.service}`)} alt={alt} height={20} />
            <Foreign text={badge.name} max={120} />
          </p>
          {badge.score === null && <p class="small">{t.unseen}</p>}
          <Code page={page} label="Markdown" text={`[![${alt}](${badge.image})](${badge.about})`} />
          <Code
            page={page}
            label="HTML"
            text={`<a href="${badge.about}"><img src="${badge.image}" alt="${alt}" height="20"></a>`}
          />
        </div>
      )}
      <p class="small muted">{t.signed}</p>
      <Code
        page={page}
        text={`jq '. + {badge: true}' transaction.json | curl -s ${page.baseUrl}/v1/test -H 'Content-Type: application/json' -d @- | jq .badge`}
      />
      <p class="small muted">{t.cli}</p>
      <Code page={page} text="npx agent-gateway test transaction.json --badge readiness.svg" />
    </section>
  )
}
