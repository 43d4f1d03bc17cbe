// One verified document: verdict, kind, what it proves, every check, and what stands in it.
import type { VNode } from 'preact'
import { BEARER_KINDS } from '../../browser/lib/proof.ts'
import { common } from '../../texts/common.ts'
import { Foreign } from '../foreign.tsx'
import { Link } from '../link.tsx'
import { Checks, shownVerdict, VerdictLine } from './checks.tsx'
import { Pairs } from './pairs.tsx'
import type { ShownProof, VerifierProps } from './verifier-props.ts'

interface ProofCardProps extends VerifierProps {
  readonly proof: ShownProof
  /** The only one: everything is open. */
  readonly isAlone: boolean
}

const RECEIPT_ID = /^rcp_[0-9a-z]{20,64}$/
/** Browsers and messengers cut longer addresses. */
const MAX_LINK = 12_000

export function ProofCard({ proof, isAlone, ...props }: ProofCardProps): VNode {
  const { texts, proofTexts, kinds, language, here, receipts } = props
  const { kind, header, payload, jws, verdict } = proof
  const words = kind && kinds[kind]
  const isSecret = kind !== undefined && BEARER_KINDS.has(kind)
  const id = payload?.['jti']
  const hasPage = kind === 'receipt' && verdict === 'genuine' && typeof id === 'string' && RECEIPT_ID.test(id)
  const isLinked = !isSecret && jws.length < MAX_LINK && /^[\w.-]+$/.test(jws)
  const t = common[language]
  return (
    <article class="panel stack proof" data-verdict={shownVerdict(proof)} data-kind={kind}>
      <p class="eyebrow">
        {words?.name ?? texts.unknownKind}
        {proof.at !== '' && (
          <>
            {' '}
            · {texts.at} <Foreign text={proof.at} max={120} class="mono" />
          </>
        )}
      </p>
      <p class="verdict">
        <VerdictLine proof={proof} language={language} texts={proofTexts} />
      </p>
      {isSecret && <p class="notice warns">{texts.secret}</p>}
      {words && (
        <dl class="pairs">
          <dt>{verdict === 'genuine' || verdict === 'expired' ? texts.proves : texts.onlyGenuine}</dt>
          <dd>{words.proves}</dd>
          <dt>{texts.provesNot}</dt>
          <dd>{words.provesNot}</dd>
        </dl>
      )}
      <details open={isAlone}>
        <summary>{proofTexts.checks}</summary>
        <Checks checks={proof.checks} language={language} texts={proofTexts} />
      </details>
      {payload && (
        <details>
          <summary>{texts.payload}</summary>
          <Pairs value={payload} />
        </details>
      )}
      {header && (
        <details>
          <summary>{texts.header}</summary>
          <Pairs value={header} />
        </details>
      )}
      {(hasPage || isLinked) && (
        <div class="row">
          {isLinked && (
            <button
              type="button"
              data-copy={`${location.origin}${here}#jws=${jws}`}
              data-copied={t.copied}
              title={texts.linkHint}
            >
              {texts.link}
            </button>
          )}
          {hasPage && <Link to={receipts + id}>{texts.page}</Link>}
        </div>
      )}
    </article>
  )
}
