// Third step: what is sold, from an OpenAPI document or one route by hand.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { OwnListing } from '../../../../../schemas/market-seller.ts'
import { atomicOf, fill } from '../market/format.ts'
import { Foreign } from '../foreign.tsx'
import { type Answer, ask, faultOf, type Refusal } from './call.ts'
import type { Known } from './known.ts'
import { Field, Refused, type StepProps, textsOf } from './parts.tsx'

interface ServiceStepProps extends StepProps {
  readonly known: Known
  readonly learn: (more: Partial<Known>) => void
}

interface Imported {
  readonly service: OwnListing
  readonly imported: readonly string[]
  readonly skipped: readonly { readonly operation: string; readonly reason: string }[]
  readonly notes: readonly string[]
}

const SAMPLE_HOST = 'sandbox.agent-gateway.test'

export function ServiceStep({ t, asking, known, learn }: ServiceStepProps): VNode {
  const [way, setWay] = useState<'openapi' | 'hand'>('openapi')
  const [why, setWhy] = useState<Refusal>()
  const [isBusy, setBusy] = useState(false)
  const [report, setReport] = useState<Imported>()
  const { service: words } = t
  const { host, listing } = known
  const origin = host?.origin ?? ''

  const wrong = (pointer: string, message: string): Refusal => ({
    code: 'input_invalid',
    title: message,
    detail: '',
    fields: [{ pointer, message }],
  })

  /** The body of the request; a refusal of ours where a field cannot be read. */
  function read(form: HTMLFormElement): { readonly body: object } | { readonly why: Refusal } {
    const { price, document, example, service_id, ...rest } = textsOf(form)
    const atomic = price === undefined ? undefined : atomicOf(price)
    if (price !== undefined && atomic === undefined) return { why: wrong('/price', t.badAmount) }
    const json = readJson(way === 'openapi' ? document : example)
    if (json === undefined) return { why: wrong(way === 'openapi' ? '/document' : '/example', t.badJson) }
    if (way === 'openapi')
      return {
        body: {
          service_id,
          origin,
          ...rest,
          ...(json.value !== undefined && { document: json.value }),
          ...(atomic !== undefined && { default_price_atomic: atomic }),
        },
      }
    const { name, description, path = '/', method = 'GET' } = rest
    const parameters = json.value as Readonly<Record<string, unknown>> | undefined
    return {
      body: {
        service_id,
        origin,
        name,
        ...(description !== undefined && { description }),
        routes: [
          {
            path,
            method,
            price_atomic: atomic ?? '',
            ...(parameters && schemaAndExample(parameters, method)),
          },
        ],
      },
    }
  }

  async function send(event: SubmitEvent): Promise<void> {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    const given = read(event.currentTarget)
    if ('why' in given) return setWhy(given.why)
    setBusy(true)
    setWhy(undefined)
    const answer: Answer<Imported | OwnListing> = await ask(
      asking,
      'POST',
      way === 'openapi' ? '/seller/services/import' : '/seller/services',
      given.body,
    )
    setBusy(false)
    if (!answer.ok) return setWhy(answer.why)
    if ('service' in answer.body) {
      setReport(answer.body)
      learn({ listing: answer.body.service, isChecked: false })
    } else learn({ listing: answer.body, isChecked: false })
  }

  if (listing)
    return (
      <div role="status" class="stack">
        <p>{fill(words.done, { s: listing.service_id, n: listing.routes.length })}</p>
        {report && report.skipped.length > 0 && (
          <dl class="pairs">
            <dt>{words.imported}</dt>
            <dd>
              <Foreign text={report.imported.join(', ')} max={1000} />
            </dd>
            <dt>{words.skipped}</dt>
            <dd>
              <ul class="plain">
                {report.skipped.slice(0, 20).map(({ operation, reason }) => (
                  <li>
                    <Foreign text={`${operation}: ${reason}`} max={300} />
                  </li>
                ))}
              </ul>
            </dd>
          </dl>
        )}
      </div>
    )
  const fault = (pointer: string) => faultOf(why, pointer)
  return (
    <>
      <p class="muted">{words.words}</p>
      <form class="stack" onSubmit={(event) => void send(event)}>
        <fieldset>
          <legend>{words.way}</legend>
          <p class="row">
            {(['openapi', 'hand'] as const).map((one) => (
              <label class="check">
                <input
                  type="radio"
                  name="way-of-service"
                  checked={way === one}
                  onChange={() => setWay(one)}
                  form=""
                />
                {words.ways[one]}
              </label>
            ))}
          </p>
        </fieldset>
        <Field
          name="service_id"
          label={words.id}
          hint={words.idHint}
          fault={fault('/service_id')}
          input={{ required: true, minLength: 2, maxLength: 64, pattern: '[a-z0-9\\-]+', dir: 'ltr' }}
        />
        {way === 'openapi' ? (
          <>
            <Field
              key="url"
              name="url"
              label={words.url}
              fault={fault('/url')}
              input={{
                type: 'url',
                dir: 'ltr',
                defaultValue: `${origin}${host?.host === SAMPLE_HOST ? '/tea' : ''}/openapi.json`,
              }}
            />
            <details>
              <summary>{words.document}</summary>
              <Field
                name="document"
                label={words.document}
                fault={fault('/document')}
                control="textarea"
                rows={6}
              />
            </details>
            <Field
              key="default-price"
              name="price"
              label={words.price}
              fault={fault('/price') ?? fault('/default_price_atomic')}
              input={{ inputMode: 'decimal', dir: 'ltr', placeholder: '0.01' }}
            />
          </>
        ) : (
          <>
            <Field
              name="name"
              label={words.name}
              fault={fault('/name')}
              input={{ required: true, maxLength: 80 }}
            />
            <Field
              name="description"
              label={words.description}
              fault={fault('/description')}
              control="textarea"
            />
            <div class="columns">
              <div class="field">
                <label for="sell-method">{words.method}</label>
                <select id="sell-method" name="method">
                  {['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => (
                    <option>{method}</option>
                  ))}
                </select>
              </div>
              <Field
                name="path"
                label={words.path}
                fault={fault('/routes/0/path')}
                input={{ required: true, dir: 'ltr', defaultValue: '/', pattern: '/.*' }}
              />
              <Field
                key="call-price"
                name="price"
                label={words.callPrice}
                fault={fault('/price') ?? fault('/routes/0/price_atomic')}
                input={{ required: true, inputMode: 'decimal', dir: 'ltr', placeholder: '0.01' }}
              />
            </div>
            <Field
              name="example"
              label={words.example}
              hint={words.exampleHint}
              fault={fault('/example') ?? fault('/routes/0')}
              control="textarea"
            />
          </>
        )}
        <Refused why={why} />
        <p>
          <button class="primary" disabled={isBusy}>
            {words.submit}
          </button>
        </p>
      </form>
    </>
  )
}

/** @returns nothing for a text that is no JSON object */
function readJson(text: string | undefined): { readonly value: object | undefined } | undefined {
  if (text === undefined) return { value: undefined }
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { value } : undefined
  } catch {
    return undefined
  }
}

/** A schema that takes what the example has, each member of its type: the seller makes it stricter later. */
function schemaAndExample(parameters: Readonly<Record<string, unknown>>, method: string): object {
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => [name, { type: typeOf(value) }]),
    ),
    required: Object.keys(parameters),
    additionalProperties: false,
  }
  return method === 'GET' || method === 'DELETE'
    ? { input_schema: schema, example: { query: parameters } }
    : { body_schema: schema, example: { body: parameters } }
}

const typeOf = (value: unknown) =>
  Array.isArray(value)
    ? 'array'
    : value === null
      ? 'null'
      : typeof value === 'number' && Number.isInteger(value)
        ? 'integer'
        : typeof value
