// Storing a credential: whose API, what the secret is, and what it may ever be used for. Two addresses and one form, so that nothing here
// needs a script.
import type { CredentialMetadata } from '../../../../schemas/egress.ts'
import { HttpMethod } from '../../../../schemas/http.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { BudgetFields } from '../components/budgets.tsx'
import { FindProvider } from '../components/credentials/find-provider.tsx'
import { KindFields } from '../components/credentials/kind-fields.tsx'
import { FurtherFields, ScopeFields } from '../components/credentials/scope-fields.tsx'
import { CertificateFields, SecretFields } from '../components/credentials/secret-fields.tsx'
import { Area } from '../components/fields.tsx'
import { Field, Form, Refusal } from '../components/form.tsx'
import { isKind, type KindName, kindsOf } from '../credentials/kinds.ts'
import { byCategory, CUSTOM, findPresets, type Preset, presetsFor } from '../credentials/presets.ts'
import { readNewCredential, USUAL_SCHEME } from '../credentials/read.ts'
import { type ConsoleContext, defineConsolePage } from '../ports.ts'
import { credentialTexts, fill } from '../texts/credentials.ts'

interface Data {
  /** Undefined while nobody has said whose API it is. */
  readonly provider: Preset | null
  readonly kind: KindName
  readonly words: string
  readonly providers: readonly Preset[]
}

export const page = defineConsolePage<Data>({
  async load(request) {
    const { query, refused } = request
    const presets = await presetsFor(request)
    const id = refused?.form.get('provider') ?? query.get('provider')
    const provider = presets.find((preset) => preset.id === id) ?? null
    const words = query.get('q') ?? ''
    const asked = refused?.form.get('kind') ?? query.get('kind')
    const [usual = 'text'] = provider ? kindsOf(provider) : []
    const kind = isKind(asked) && provider && kindsOf(provider).includes(asked) ? asked : usual
    return { provider, kind, words, providers: provider ? [] : findPresets(presets, words) }
  },
  actions: {
    async create(form, { call }) {
      const { credential_id } = (await call(
        'gateway.egress.credentials.create',
        readNewCredential(form),
      )) as CredentialMetadata
      return { goTo: `/console/credentials/${credential_id}?done=created` }
    },
  },
  title: (_data, { language }) => credentialTexts[language].add,
  View: ({ data, page }) =>
    data.provider === null ? (
      <ChooseProvider data={data} page={page} />
    ) : (
      <CreateForm page={page} provider={data.provider} kind={data.kind} />
    ),
})

const HERE = '/console/credentials/new'

function ChooseProvider({ data, page }: { readonly data: Data; readonly page: ConsoleContext }) {
  const t = credentialTexts[page.language]
  return (
    <div class="stack">
      <h1>{t.add}</h1>
      <p class="muted">{t.chooseLead}</p>
      <div class="console-filters">
        <FindProvider page={page} words={data.words} />
        <Link to={page.href(`${HERE}?provider=${CUSTOM}`)} class="button">
          {t.anyApi}
        </Link>
      </div>
      <h2>{t.chooseProvider}</h2>
      {data.providers.length === 0 && <p class="console-empty">{t.noneFound}</p>}
      {byCategory(data.providers).map(([category, providers]) => (
        <section class="stack tight">
          <h3>{t.categories[category] ?? category}</h3>
          <ul class="console-tiles">
            {providers.map(({ id, name }) => (
              <li>
                <Link to={page.href(`${HERE}?provider=${id}`)}>
                  <Foreign text={name} max={60} />
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

interface CreateFormProps {
  readonly page: ConsoleContext
  readonly provider: Preset
  readonly kind: KindName
}

function CreateForm({ page, provider, kind }: CreateFormProps) {
  const t = credentialTexts[page.language]
  const isCustom = provider.id === CUSTOM
  const suffixes = provider.host_suffixes ?? []
  const needsHosts = isCustom || (provider.hosts.length === 0 && suffixes.length > 0)
  const hostsHelp = isCustom
    ? t.hostsHelp
    : needsHosts
      ? fill(t.hostsBelow, { suffix: suffixes.join(', ') })
      : t.hostsOf
  const kinds = kindsOf(provider)
  return (
    <div class="stack">
      <h1>{t.add}</h1>
      <p class="row">
        <strong>
          <Foreign text={isCustom ? t.anyApi : provider.name} max={60} />
        </strong>
        {!isCustom && (
          <Ltr class="small muted">{[...provider.hosts, ...suffixes.map((end) => `*${end}`)].join(', ')}</Ltr>
        )}
        <Link to={page.href(HERE)}>{t.otherProvider}</Link>
        {!isCustom && (
          <Link to={provider.docs} isForeign>
            {t.documents}
          </Link>
        )}
      </p>
      {kinds.length > 1 && (
        <nav aria-label={t.whatIsIt} class="stack tight">
          <h2>{t.whatIsIt}</h2>
          <ul class="console-tiles">
            {kinds.map((name) => (
              <li>
                <Link to={page.href(`${HERE}?provider=${provider.id}&kind=${name}`)} current={name === kind}>
                  {t.kinds[name]}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <p class="muted">{t.kindHints[kind]}</p>
      <Refusal page={page} />
      <Form page={page} action="create" class="stack" values={{ provider: provider.id, kind }}>
        <Field page={page} name="label" label={t.label} value={isCustom ? '' : provider.id} isRequired />
        <fieldset class="console-section">
          <legend>{t.secretLegend}</legend>
          <SecretFields page={page} kind={kind} named={provider.parts} />
          {isCustom && kind === 'text' && (
            <div class="console-pair">
              <Field page={page} name="header" label={t.header} help={t.headerHelp} />
              <Field page={page} name="scheme" label={t.scheme} help={t.schemeHelp} value={USUAL_SCHEME} />
            </div>
          )}
          {isCustom && kind === 'texts' && (
            <Area
              page={page}
              name="placements"
              label={t.placements}
              help={t.placementsHelp}
              value={EXAMPLE}
              rows={4}
            />
          )}
        </fieldset>
        {kind !== 'text' && kind !== 'texts' && (
          <fieldset class="console-section">
            <legend>{t.settingsLegend}</legend>
            <KindFields page={page} kind={kind} />
          </fieldset>
        )}
        <ScopeFields
          page={page}
          hosts={[]}
          paths={['/']}
          methods={HttpMethod.options}
          hostsHelp={hostsHelp}
          needsHosts={needsHosts}
        />
        <BudgetFields page={page} />
        <FurtherFields page={page}>
          <CertificateFields page={page} />
        </FurtherFields>
        <p>
          <button class="primary">{t.store}</button>
        </p>
      </Form>
    </div>
  )
}

/** A user name and a password, as most APIs of several texts want them. */
const EXAMPLE = '[{"in": "header", "name": "authorization", "scheme": "Basic"}]'
