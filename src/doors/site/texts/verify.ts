// Words of the page that verifies whatever is pasted.
import type { Nothing } from '../browser/lib/find-proofs.ts'
import type { Language } from '../routes.ts'

const en = {
  title: 'Verify',
  heading: 'Verify anything that a gateway signed',
  description:
    'Paste a receipt, quote, permit, evidence or agent card: your browser checks its signature, and nothing leaves it.',
  lead: 'Your browser checks the signature against published keys. What you paste stays in it: nothing of it is sent anywhere.',
  island: {
    paste: 'A signed document',
    hint: 'A JWS, a header line, a receipt, a whole answer, an agent card: whatever it stands in. Or drop a file here.',
    file: 'Choose a file',
    sample: 'Try this gateway’s agent card',
    verify: 'Verify',
    clear: 'Clear',
    more: 'Compare with a body, or use the keys of another gateway',
    body: 'A body to compare',
    bodyHint:
      'The request, the answer or the page that the document is said to be about: its digest is compared. A notification needs the body that it came with.',
    keys: 'Keys of another gateway',
    keysHint:
      'The JWK Set from its /.well-known/jwks.json or gateway-egress-key.json. Left empty, the keys are those of this gateway.',
    badKeys: 'This is no JWK Set: it needs a member keys with a list of keys.',
    result: 'Result',
    found: 'What was pasted holds {n} signed documents. Each is verified on its own.',
    at: 'Found at',
    whatIs: 'What it is',
    unknownKind: 'Unknown kind',
    proves: 'What it proves',
    provesNot: 'What it does not prove',
    onlyGenuine: 'It would prove, were it genuine',
    header: 'Header',
    payload: 'Payload',
    secret: 'Whoever holds this can act with it. Do not pass it on; there is no link to it.',
    link: 'Copy a link to this check',
    linkHint: 'The document stands behind the # of the link, which browsers send to no server.',
    page: 'Its page, with what has become of it since',
    command: 'The same from a command line',
    nothing: {
      empty: 'Paste a document first, or choose a file.',
      too_long: 'This is longer than 2 MB. Paste the document alone.',
      nothing:
        'No signed document was found. One begins with eyJ and has three parts with dots between them; answers hold it as jws.',
      half: 'This begins like a signed document and has not its three parts: part of it was cut off.',
      encrypted: 'This has five parts, so it is encrypted rather than signed. Gateways sign.',
      receipt_id: 'This is the id of a receipt. Its page shows and verifies it:',
      other_id: 'This is an id. Only the signed document can be verified: paste what came with it as jws.',
      keys: 'These are keys. Paste them below as the keys of another gateway, and the document here.',
      needs_body:
        'The payload of this signature is not in it. Paste the body that it came with into “A body to compare”.',
      broken_json: 'This begins like JSON and is none: part of it may be missing.',
    } satisfies Record<Nothing, string> as Readonly<Record<Nothing, string>>,
  },
  kinds: 'What can be verified',
  kind: 'Document',
  type: 'Type (typ)',
  withoutHow:
    'The signature is checked by your browser, so this form needs JavaScript. The command line does not:',
  method: 'How it is checked',
  steps: [
    'The document is split into header, payload and signature. It must be written in the one form that gateways sign: RFC 8785, base64url without padding.',
    'Its algorithm must be EdDSA; nothing else is tried, whatever the header says.',
    'The key is looked up by its id among the published ones. A revoked key proves nothing; a retired one proves what was signed before.',
    'The signature is verified by Web Crypto, over exactly the bytes that were pasted.',
    'Then time, issuer and environment are read, and digests are compared with what you have.',
  ],
  sameCode:
    'A test gives the same documents, altered in every way that we could think of, to this page and to the command line, and wants the same verdicts.',
}

const ar: typeof en = {
  title: 'التحقق',
  heading: 'تحقق من أي شيء وقّعته بوابة',
  description:
    'الصق إيصالًا أو عرض سعر أو تصريحًا أو دليلًا أو بطاقة وكيل: يفحص متصفحك التوقيع ولا يخرج منه شيء.',
  lead: 'يفحص متصفحك التوقيع بالمفاتيح المنشورة. وما تلصقه يبقى فيه: لا يُرسل منه شيء إلى أي مكان.',
  island: {
    paste: 'مستند موقَّع',
    hint: 'JWS أو سطر ترويسة أو إيصال أو إجابة كاملة أو بطاقة وكيل، أيًّا كان موضعه. أو أسقط ملفًا هنا.',
    file: 'اختر ملفًا',
    sample: 'جرّب بطاقة وكيل هذه البوابة',
    verify: 'تحقق',
    clear: 'امسح',
    more: 'قارن بنص، أو استخدم مفاتيح بوابة أخرى',
    body: 'نص للمقارنة',
    bodyHint:
      'الطلب أو الإجابة أو الصفحة التي يُقال إن المستند عنها: تُقارن بصمته. ويحتاج الإشعار إلى النص الذي جاء معه.',
    keys: 'مفاتيح بوابة أخرى',
    keysHint:
      'مجموعة المفاتيح من ‎/.well-known/jwks.json أو gateway-egress-key.json لديها. وإن تُركت فارغة فالمفاتيح مفاتيح هذه البوابة.',
    badKeys: 'ليست هذه مجموعة مفاتيح: ينقصها العضو keys وفيه قائمة مفاتيح.',
    result: 'النتيجة',
    found: 'فيما ألصقته مستندات موقَّعة عددها {n}، ويُتحقق من كل منها على حدة.',
    at: 'موضعه',
    whatIs: 'ما هو',
    unknownKind: 'نوع غير معروف',
    proves: 'ما يثبته',
    provesNot: 'ما لا يثبته',
    onlyGenuine: 'ما كان ليثبته لو كان أصليًا',
    header: 'الترويسة',
    payload: 'المحتوى',
    secret: 'يستطيع حامل هذا أن يتصرف به. لا تمرره إلى أحد، ولا رابط له.',
    link: 'انسخ رابطًا إلى هذا الفحص',
    linkHint: 'يقع المستند بعد # في الرابط، ولا ترسله المتصفحات إلى أي خادم.',
    page: 'صفحته، وفيها ما آل إليه منذ ذلك',
    command: 'الفحص نفسه من سطر الأوامر',
    nothing: {
      empty: 'الصق مستندًا أولًا أو اختر ملفًا.',
      too_long: 'هذا أطول من 2 ميغابايت. الصق المستند وحده.',
      nothing:
        'لم يُعثر على مستند موقَّع. يبدأ المستند بـ eyJ وله ثلاثة أجزاء بينها نقاط؛ وتحمله الإجابات باسم jws.',
      half: 'يبدأ هذا كمستند موقَّع وليست له أجزاؤه الثلاثة: قُطع جزء منه.',
      encrypted: 'لهذا خمسة أجزاء، فهو مشفَّر لا موقَّع. البوابات توقّع.',
      receipt_id: 'هذا معرّف إيصال. تعرضه صفحته وتتحقق منه:',
      other_id: 'هذا معرّف. لا يمكن التحقق إلا من المستند الموقَّع: الصق ما جاء معه باسم jws.',
      keys: 'هذه مفاتيح. الصقها أدناه كمفاتيح بوابة أخرى، والمستند هنا.',
      needs_body: 'محتوى هذا التوقيع ليس فيه. الصق النص الذي جاء معه في «نص للمقارنة».',
      broken_json: 'يبدأ هذا كأنه JSON وليس كذلك: ربما نقص جزء منه.',
    },
  },
  kinds: 'ما يمكن التحقق منه',
  kind: 'المستند',
  type: 'النوع (typ)',
  withoutHow: 'متصفحك هو الذي يفحص التوقيع، فيحتاج هذا النموذج إلى JavaScript. أما سطر الأوامر فلا:',
  method: 'كيف يُفحص',
  steps: [
    'يُقسم المستند إلى ترويسة ومحتوى وتوقيع. ويجب أن يكون مكتوبًا بالصيغة الوحيدة التي توقّعها البوابات: RFC 8785 و base64url بلا حشو.',
    'يجب أن تكون خوارزميته EdDSA؛ ولا يُجرَّب غيرها مهما قالت الترويسة.',
    'يُبحث عن المفتاح بمعرّفه بين المفاتيح المنشورة. المفتاح الملغى لا يثبت شيئًا، والمتقاعد يثبت ما وُقّع قبل تقاعده.',
    'تتحقق Web Crypto من التوقيع على البايتات الملصقة نفسها.',
    'ثم يُقرأ الوقت والموقِّع والبيئة، وتُقارن البصمات بما لديك.',
  ],
  sameCode:
    'يعطي اختبارٌ المستندات نفسها، بعد تغييرها بكل وجه خطر لنا، لهذه الصفحة ولسطر الأوامر، ويطلب الأحكام نفسها.',
}

/** `verifyTexts[page.language]` */
export const verifyTexts: Readonly<Record<Language, typeof en>> = { en, ar }
export type VerifyIslandTexts = (typeof en)['island']
