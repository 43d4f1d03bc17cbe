// What a credential may be used for, as it is typed when one is stored and when one is edited.
import type { VNode } from 'preact'
import { HttpMethod } from '../../../../../schemas/http.ts'
import type { ConsoleContext } from '../../ports.ts'
import { credentialTexts } from '../../texts/credentials.ts'
import { Area, Boxes } from '../fields.tsx'

interface ScopeFieldsProps {
  readonly page: ConsoleContext
  readonly hosts: readonly string[]
  readonly paths: readonly string[]
  readonly methods: readonly string[]
  readonly hostsHelp: string
  readonly needsHosts: boolean
}

export function ScopeFields({ page, hosts, paths, methods, hostsHelp, needsHosts }: ScopeFieldsProps): VNode {
  const t = credentialTexts[page.language]
  return (
    <fieldset class="console-section">
      <legend>{t.scopeLegend}</legend>
      <p class="muted small">{t.scopeHint}</p>
      <div class="console-pair">
        <Area
          page={page}
          name="hosts"
          label={t.hosts}
          help={hostsHelp}
          value={hosts.join('\n')}
          isRequired={needsHosts}
        />
        <Area
          page={page}
          name="path_prefixes"
          label={t.paths}
          help={t.pathsHelp}
          value={paths.join('\n')}
          isRequired
        />
      </div>
      <Boxes page={page} name="methods" label={t.methods} options={HttpMethod.options} chosen={methods} />
    </fieldset>
  )
}

interface FurtherProps {
  readonly page: ConsoleContext
  /** Settings without a field of their own, as they are. */
  readonly settings?: string
  readonly targets?: readonly string[]
  readonly children?: VNode
}

/** What few credentials need, folded. */
export function FurtherFields({ page, settings = '', targets = [], children }: FurtherProps): VNode {
  const t = credentialTexts[page.language]
  return (
    <details class="console-section" open={settings !== '' || targets.length > 0}>
      <summary>{t.advanced}</summary>
      <div class="stack">
        {children}
        {page.signedIn?.admin === true && (
          <Area
            page={page}
            name="private_targets"
            label={t.privateTargets}
            help={t.privateTargetsHelp}
            value={targets.join('\n')}
            rows={2}
          />
        )}
        <Area page={page} name="settings" label={t.further} help={t.furtherHelp} value={settings} />
      </div>
    </details>
  )
}
