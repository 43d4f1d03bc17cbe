// The APIs that the gateway knows, with what a credential of each brings from the start.
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { Scrolling } from '../../site/components/state.tsx'
import { FindProvider } from '../components/credentials/find-provider.tsx'
import { byCategory, findPresets, type Preset, presetsFor } from '../credentials/presets.ts'
import { defineConsolePage } from '../ports.ts'
import { maySee } from '../routes.ts'
import { consoleTexts } from '../texts/common.ts'
import { credentialTexts } from '../texts/credentials.ts'

interface Data {
  readonly words: string
  readonly providers: readonly Preset[]
}

export const page = defineConsolePage<Data>({
  isWide: true,
  async load(request) {
    const words = request.query.get('q') ?? ''
    return { words, providers: findPresets(await presetsFor(request), words) }
  },
  title: (_data, { language }) => consoleTexts[language].pages.providers,
  View({ data, page }) {
    const t = credentialTexts[page.language]
    const { yes, no } = consoleTexts[page.language]
    const repeats = { true: yes, false: no, unknown: t.unknown }
    const mayStore = page.signedIn !== undefined && maySee('newCredential', page.signedIn)
    return (
      <div class="stack">
        <h1>{consoleTexts[page.language].pages.providers}</h1>
        <p class="muted">{t.providersLead}</p>
        <FindProvider page={page} words={data.words} />
        {data.providers.length === 0 && <p class="console-empty">{t.noneFound}</p>}
        {byCategory(data.providers).map(([category, providers]) => (
          <section class="stack tight">
            <h2>{t.categories[category] ?? category}</h2>
            <Scrolling label={t.categories[category] ?? category}>
              <table class="console-providers">
                <thead>
                  <tr>
                    <th scope="col">{t.provider}</th>
                    <th scope="col">{t.hosts}</th>
                    <th scope="col">{t.header2}</th>
                    <th scope="col">{t.idempotency}</th>
                    <th scope="col">{t.denied}</th>
                    {mayStore && <td />}
                  </tr>
                </thead>
                <tbody>
                  {providers.map((provider) => (
                    <tr>
                      <th scope="row">
                        <Link to={provider.docs} isForeign>
                          <Foreign text={provider.name} max={60} />
                        </Link>
                      </th>
                      <td>
                        <Ltr class="small">
                          {[
                            ...provider.hosts,
                            ...(provider.host_suffixes ?? []).map((suffix) => `*${suffix}`),
                          ].join(', ')}
                        </Ltr>
                      </td>
                      <td>
                        <Ltr class="small">{`${provider.header} ${provider.scheme}`.trim()}</Ltr>
                      </td>
                      <td>{repeats[provider.idempotency_honoured]}</td>
                      <td>
                        {provider.denied_paths.length > 0 && (
                          <details>
                            <summary>{provider.denied_paths.length}</summary>
                            <ul class="console-plain small">
                              {provider.denied_paths.map(({ method, path }) => (
                                <li>
                                  <Ltr class="mono">{`${method ?? '*'} ${path}`}</Ltr>
                                </li>
                              ))}
                            </ul>
                          </details>
                        )}
                      </td>
                      {mayStore && (
                        <td>
                          <Link to={page.href(`/console/credentials/new?provider=${provider.id}`)}>
                            {t.use}
                          </Link>
                        </td>
                      )}
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scrolling>
          </section>
        ))}
      </div>
    )
  },
})
