// The words by which pages that are none are known: what they are called, and what they say to their visitor. They speak to somebody ("verify
// that you are human"), which pages about them do not. Matched against lower case with straight apostrophes.
import type { PoorReason } from './reasons.ts'
import { ASIDES, SENTENCES } from './sentences.ts'

export interface Signs {
  /** The whole of a title, of one part of it, or of a heading. */
  readonly names: RegExp
  /** One idea each, in every language: two of them are two signs. Bounded, so that no text makes the search slow. */
  readonly says: readonly RegExp[]
  /** What no page says but to the visitor of one that is none. */
  readonly tells?: readonly RegExp[]
  /** What such pages say as well: beside another sign it is one. */
  readonly adds?: readonly RegExp[]
  /** Pages that are called so are about it: they need one sign more. */
  readonly about?: RegExp
}

const whole = (...alternatives: string[]) =>
  new RegExp(`^(?:${alternatives.join('|')})[\\s.!?…。！？:]*$`, 'u')
const any = (...alternatives: string[]) => new RegExp(alternatives.join('|'), 'u')

/** Such a page speaks to its visitor; an entry of a dictionary under the same name does not. */
export const ADDRESSES = any(
  "\\b(?:you|your|you're|please|sorry|oops|whoops|we're|contact|unavailable|try again|come back|go back|back to|return to)\\b",
  '\\b(?:ihre?[nmr]?|leider|entschuldigung|zur startseite|versuchen sie)\\b',
  '\\b(?:vous|votre|vos|veuillez|désolés?|oups)(?:\\s|$)',
  '\\b(?:lo sentimos|por favor|vuelva|inténtelo|usted|desculpe|tente|ci dispiace|riprova|helaas|probeer|przepraszamy)\\b',
  'عذرا|عفوا|نعتذر|يرجى|العودة إلى|حاول مرة',
  '抱歉|您|返回首页|申し訳|ください|извините|вернит|вернуться|попробуйте|к сожалению|죄송|üzgünüz',
)

// prettier-ignore
export const SIGNS: Readonly<Record<Exclude<PoorReason, 'remnant'>, Signs>> = {
  captcha: {
    names: whole('just a moment', 'one moment,? please', 'attention required', 'one more step', 'robot check', 'robot or human', 'are you (?:a robot|human)', 'security (?:check|verification)', 'human verification', 'challenge validation', 'bot verification', 'pardon our interruption', 'ddos protection', 'access to this page has been denied', `making sure you're not a bot`, 'verifying your browser', 'please wait', 'sicherheits(?:überprüfung|prüfung|abfrage)', 'nur einen moment', 'einen moment(?:,? bitte)?', 'vérification (?:de sécurité|requise)', 'un instant', 'verificación de seguridad', 'un momento', 'التحقق الأمني', 'لحظة من فضلك', '安全验证', '访问验证', '请稍候', 'しばらくお待ちください', '認証', 'один момент', 'ой', 'verifica di sicurezza', 'verificação de segurança', 'beveiligingscontrole', 'establishing a secure connection', 'client challenge', 'вы не робот'),
    says: [
      any(...SENTENCES.captcha, "(?:verify|confirm|prove|check) (?:that )?(?:you are|you're) (?:a )?human", "(?:sure|confirm|verify|know|prove) (?:that )?(?:you're|you are|it's really you[^.]{0,40}) ?(?:,? and )?not a (?:ro)?bot", 'completing the captcha proves', '(?:solve|complete|enter) (?:this|the) (?:captcha|puzzle)', 'enter the characters you see', "confirm that you're human", `let's confirm you are human`, 'robot or human', '(?:تحقق|أكد|تأكد) (?:من )?أنك (?:إنسان|لست روبوت)', '(?:kein|nicht ein) roboter', 'dass sie ein mensch sind', 'vous êtes (?:bien )?(?:un )?humain', "n'êtes pas un robot", '(?:eres|es usted|sea) (?:un )?humano', 'no (?:eres|es) un robot', '您是真人', '(?:不是|非)机器人', '輸入驗證碼|输入验证码', '拖动滑块', 'あなたが人間であること', 'ロボットではありません', '(?:что )?вы (?:человек|не робот)', 'отправляли вы, а не робот', 'não é um rob[ôo]', 'non sei un robot', 'geen robot bent', 'robot olmadığınızı', '로봇이 아닙니다|로봇이 아님', 'nie jesteś robotem'),
      any('checking (?:your browser|if (?:the site connection is secure|you are human))', 'needs to review the security of your connection', 'complete the security check', 'verifying your browser', 'once this check is complete', 'completing the action below', 'you are seeing this because the administrator', '(?:جار[ٍي]? التحقق|نتحقق) من متصفحك', 'اختبار التحقق', 'sicherheit ihrer verbindung', 'ihr browser wird überprüft', 'nous vérifions votre navigateur', "effectuer l'action ci-dessous", 'comprobando su navegador', 'completa la siguiente acción', '检查您的连接', '接続のセキュリティ', '画像認証を完了', 'проверка браузера', 'похожи на автоматические', 'إكمال التحقق', 'ensure a secure connection', 'comprobando tu navegador'),
      any('unusual (?:traffic|activity) from your', 'made us think (?:that )?you (?:were|are) a bot', 'you are using automation tools', 'ray id', 'press & hold', 'hold the button to confirm', 'escribe los caracteres', '异常流量', 'verifies that you are not a bot', '完成拼图', 'compléter le puzzle'),
      any('(?:enable|turn on) (?:javascript|js) and (?:cookies|disable any ad ?blocker) ?(?:to continue)?', 'please enable js and disable any ad blocker', '(?:javascript and cookies|cookies and javascript) are enabled', 'javascript und cookies', 'javascript et les cookies', 'javascript y las cookies', 'javascript и файлы cookie', 'جافا سكريبت وملفات', 'browser is accepting cookies', 'you must enable javascript to pass this check', 'enable javascript to proceed', "a required part of this site couldn't load"),
    ],
    adds: [any(...ASIDES.captcha)],
  },
  access_denied: {
    names: whole('access (?:is )?denied', '(?:error )?(?:403|401|429)', '(?:(?:error|http) )?403(?: -| :|:)? ?forbidden', 'forbidden', 'too many requests', '429 too many requests', 'not available', 'zugriff verweigert', 'accès refusé', 'acceso denegado', 'تم رفض الوصول', '访问被拒绝', '拒绝访问', 'アクセス(?:拒否|が拒否されました)', 'доступ (?:запрещ[её]н|закрыт)', 'sorry, you have been blocked', 'your access to this site has been limited(?: by the site owner)?', 'blocked', 'error 10[012]\\d', 'accesso negato', 'acesso negado', 'toegang geweigerd', 'erişim engellendi', 'odmowa dostępu', '접근이 거부되었습니다'),
    says: [
      any(...SENTENCES.access_denied, "you (?:don't|do not) have permission to (?:access|view)", 'your ip(?: address)? (?:has been|was|is) (?:blocked|banned)', 'доступ к этому ресурсу',  'access to this (?:resource|page|site)[^.]{0,40} is denied',  'you have been blocked', 'your access to this (?:site|service) has been limited', 'you have sent too many requests', 'you are unable to access', "you've been blocked", 'your request has been blocked', 'request forbidden by administrative rules', 'attempting to access this website from a country', 'whitelist your ip', 'block reason:', '(?:content|page|site|video|service|website) is (?:not|un)(?: currently)? ?available in your (?:region|country|location|area)', 'unable to serve readers in your', 'keine berechtigung', "n'êtes pas autorisé", 'no tiene permiso', 'ليس لديك إذن', '没有权限', '权限がありません|権限がありません', 'нет прав для просмотра', 'no está disponible en su región'),
      any('due to legal reasons', 'using a security service to protect itself', 'reference #[\\da-f.]+', 'http response code 503', 'please slow down', 'european economic area', 'if you (?:believe|think) (?:that )?this (?:block )?is (?:a mistake|an error)', 'use your developer token', 'cannot grant you access'),
    ],
    adds: [any(...ASIDES.access_denied)],
  },
  server_error: {
    names: whole('(?:(?:error|http) )?5\\d\\d', '(?:(?:error|http) )?5\\d\\d(?: -|:)? ?(?:internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out)', 'internal server error', 'bad gateway', 'service (?:temporarily )?unavailable', 'database error', 'runtime error', 'error', 'something went wrong', '(?:site |under |down for )?maintenance', `we'll be back soon`, "server error in '/' application", 'error establishing a database connection', 'wartungsarbeiten', 'fehler', 'site en maintenance', 'erreur', '(?:sitio en )?mantenimiento', 'صيانة', 'الموقع تحت الصيانة', 'خطأ', '系统维护(?:中)?', '出错了', '(?:ただいま)?メンテナンス(?:中です)?', 'エラー', 'технические работы', 'сайт на техническом обслуживании', 'ошибка', '(?:sito in )?manutenzione', 'em manutenção', 'in onderhoud', 'bakım çalışması', 'przerwa techniczna', '서비스 점검(?: 중)?', 'errore', 'erro'),
    says: [
      any(...SENTENCES.server_error, '^fatal error', 'uncaught (?:error|exception)', '^error establishing a database connection\\W*$', 'there has been a critical error on this website', 'the server encountered an (?:internal|unexpected) error', 'http error 50\\d', "server (?:didn't|did not) respond in time", '(?:an unexpected|an application|an) error (?:has )?occurred', '^(?:oops[!,.]* )?something went wrong\\W*$', 'could not connect to the database', 'mysqli?_connect\\(\\)', 'application error: a client-side exception', 'es ist ein (?:unerwarteter )?fehler aufgetreten', 'une erreur (?:inattendue )?est survenue', 'ha ocurrido un error', 'error interno del servidor', 'erreur interne du serveur', 'interner serverfehler', 'errore interno del server', 'erro interno do servidor', 'خطأ داخلي في الخادم',  'حدث خطأ', '服务器内部错误', 'エラーが発生しました', 'произошла ошибка', '^upstream connect error', 'si è verificato un errore', 'ocorreu um erro', 'er is (?:iets misgegaan|een fout opgetreden)', 'wystąpił błąd', 'bir hata oluştu', '오류가 발생'),
      any("we're performing (?:some )?maintenance", "^(?:we're|we are) (?:currently )?down for maintenance",  'for scheduled maintenance', 'undergoing (?:scheduled |planned )?maintenance', "we'll be back (?:soon|up|shortly)", 'wegen wartungsarbeiten ist (?:unsere|die|diese) (?:web)?(?:site|seite)', 'actuellement en maintenance', 'realizando tareas de mantenimiento', 'الموقع (?:تحت|قيد) الصيانة', '网站正在维护', '系统维护中', 'メンテナンス中です', 'ведутся технические работы', 'sito in manutenzione', 'site (?:está )?em manutenção', 'you are now in line', 'when it is your turn'),
    ],
    adds: [
      any(...ASIDES.server_error, '(?:please )?(?:try|check back)(?: again)? (?:later|in a (?:minute|few))', 'versuchen sie es später', '(?:réessayer ultérieurement|revenir plus tard)', '(?:de nuevo más tarde|vuelva más tarde)', '(?:مرة أخرى لاحقا|سنعود قريبا)', '请稍后(?:再试|重试)', 'しばらくしてから再度', '(?:попытку позже|зайдите позже)', 'riprova(?:re)? più tardi', 'torneremo online', 'tente novamente mais tarde', 'probeer het later', 'spróbuj ponownie później', '잠시 후 다시', 'connection failure\\W*$', 'description: an application error', 'refresh the page', 'our engineers have been', 'on line \\d+'),
    ],
  },
  soft_404: {
    names: whole('(?:(?:error|http) )?(?:404|410)', '(?:(?:error|http) )?404(?: -| –|:)? ?(?:(?:page )?not found|error)?', "(?:oops[!,.]* )?(?:sorry,? )?(?:this |the |that )?page (?:was |is |could |can(?:no|')t be |(?:could )?not be )*(?:not )?found", "(?:oops[!,.]* )?that page can't be found", 'not found', 'nothing here', '(?:product|item|article|job|listing|video|topic|user) (?:was )?not found', 'job closed', 'listing removed', 'video unavailable', 'article unavailable', 'this page does not exist', 'this (?:product|item|job|listing) is no longer available', 'seite nicht gefunden', 'fehler 404', 'page (?:introuvable|non trouvée)', 'erreur 404', 'página no encontrada', 'الصفحة غير موجودة', 'خطأ 404', '页面不存在', '(?:お探しの)?ページが?は?(?:見つかりません|見つかりませんでした)', 'страница не найдена', 'ошибка 404', '404 ?[-–—|:] ?.{1,30}', 'pagina non trovata', 'página não encontrada', 'pagina niet gevonden', 'sayfa bulunamadı', '(?:페이지를|페이지가) 찾을 수 없(?:습니다|음)', '(?:nie znaleziono strony|strona nie (?:została )?znaleziona)', 'sidan (?:hittades inte|finns inte)', 'siden (?:blev )?ikke fundet', 'siden finnes ikke', 'sivua ei löyt?ynyt', 'صفحه (?:مورد نظر )?(?:یافت|پیدا) نشد', 'पृष्ठ नहीं मिला', 'halaman tidak ditemukan', 'không tìm thấy trang', 'ไม่พบหน้า(?:ที่ต้องการ)?', 'المنتج غير موجود', '٤٠٤'),
    says: [
      any(...SENTENCES.soft_404, "(?:page|article|product|item|topic|thread|file|url|address) (?:that )?(?:you(?:'re| are| were)? (?:looking for|requested|tried|followed)|requested)[^.]{0,40}(?:not|n't|no longer|removed|moved|deleted)", "can't find the page (?:that )?you", "that page can't be found", '^(?:sorry, )?(?:the |this )?page (?:was |could )?not (?:be )?found\\W*$', "(?:this |the )?(?:page|video|listing|content) (?:isn't|is not) available(?: anymore)?\\W*$", "(?:this|the) page (?:does not|doesn't|no longer) exists?", 'requested (?:url|page|topic|file|resource) (?:was not|could not|does not|cannot)', 'not the web ?page you are looking for', 'nothing was found at this location', '(?:this|the) (?:product|item|job|listing|ad|offer|article) (?:is|has been) (?:no longer available|removed|sold|closed)', 'this listing has ended', 'gesuchte seite konnte', 'seite existiert nicht', 'page que vous (?:recherchez|cherchez|demandez)', "produit n'est plus disponible", 'página que (?:buscas?|solicit)', 'hemos podido encontrar la página', '(?:artikel|produkt) wurde (?:leider )?nicht gefunden', "(?:produit|page|article) n'existe (?:plus|pas)", 'strona o podanym adresie', 'הדף (?:לא נמצא|שחיפשת)', 'الرابط الذي (?:طلبته|اتبعته)', 'الصفحة التي تبحث عنها', 'لم يتم العثور على الصفحة', '访问的页面(?:不存在|已)', '商品(?:找不到|已下架)', 'お探しのページ', 'ページが存在しません', '現在取り扱っておりません', '(?:запрашиваемая|запрошенная) (?:вами )?страница', 'такой страницы (?:нет|не существует)', "(?:couldn't|could not|can't|cannot) find (?:that|this|the requested|the) (?:page|product|item|article|listing|file)\\W*$", "(?:this|the|that) (?:page|product|article|file) (?:doesn't|does not)(?: seem to)? exist", '(?:deze|die) pagina (?:bestaat|is) niet', 'aradığınız .{1,20} bulunamadı', 'cette page est introuvable', 'questa pagina non esiste', 'esta página no existe', 'esta página não existe', 'denna sida finns inte', 'هذه الصفحة غير (?:موجودة|متاحة)', '이 페이지는 존재하지', "(?:product|item|page|job|listing) (?:isn't|is not) available any ?more", 'diese seite gibt es nicht', "(?:désolé,? )?cette page n'existe", '(?:producto|artículo|página) que buscas', 'الصفحة المطلوبة', "this (?:account|user|profile) (?:doesn't|does not|no longer) exists?", 'this (?:post|comment|message) (?:was|has been) (?:deleted|removed)', "this video (?:isn't|is not|is no longer) available(?: any ?more)?\\W*$", 'لم نتمكن من العثور على'),
    ],
    tells: [
      any("(?:page|article|product|item|ad|listing|topic|job|position|post|file|video|link) (?:that )?(?:you(?:'re| are| were)|you have|you) (?:after|looking for|requested|trying to (?:reach|find|view))[^.]{0,40}(?:not|n't|no longer|removed|moved|deleted|expired)", 'page que vous (?:recherchez|cherchez|demandez)', 'página que (?:buscas?|solicit)', 'von ihnen (?:aufgerufene|gesuchte|angeforderte) seite', 'pagina che (?:stai cercando|cerchi|hai richiesto)', 'página que (?:você )?(?:procura|está procurando)', 'pagina die (?:je|u) zoekt', 'aradığınız sayfa', '요청하신 페이지|찾으시는 페이지', '(?:strona|strony), której szukasz', 'sidan du (?:letar efter|söker)', 'siden du (?:leder efter|leter etter)', 'etsimääsi sivua', 'صفحه.{0,3} ?که (?:به )?دنبال', 'आप जिस पृष्ठ', 'halaman yang anda cari', 'trang bạn (?:tìm kiếm|đang tìm)', '(?:الصفحة|المنتج) الت?ي? ?(?:ذي )?تبحث عنه', '访问的页面(?:不存在|已)', 'お探しのページ'),
    ],
    adds: [
      any(...ASIDES.soft_404, '(?:may|might) have (?:been )?(?:moved|removed|deleted|renamed|expired|mistyped)', 'back to (?:the )?home', 'go (?:back )?(?:to )?home', 'the page may have', 'mistyped the address', 'has been (?:removed|filled|deleted)', 'posting has expired', 'link you followed may be broken', 'try (?:a search|searching)', 'look at similar', 'oder wurde verschoben', 'nicht mehr verfügbar', 'a été déplacée', 'sido eliminada', 'أو تم نقلها', '已被删除', '该商品已下架', 'urlが変更', 'была удалена', 'вернитесь на главную'),
    ],
  },
  parked_domain: {
    names: whole('coming soon', 'parked', 'expired', 'under construction', '[\\w.-]{3,60} is for sale', 'apache2? (?:\\w+ )?default page', 'welcome to nginx', 'it works', 'store unavailable', 'account suspended', 'this (?:account|domain|site) has (?:been suspended|expired)', 'hier entsteht', 'buy this domain', 'index of /', 'iis windows server', 'default web site page', 'hello world', 'website coming soon'),
    says: [
      any(...SENTENCES.parked_domain, '(?:this|the) domain (?:name )?(?:[\\w.-]{3,60} )?(?:is|may be) for sale', '(?:buy|inquire about) this domain', 'this domain is parked', 'owner has not yet (?:put up|uploaded|published)',  'this domain has expired', 'if you are the owner of this domain', '(?:this|our|the) (?:new )?(?:site|website) is under construction', '[\\w-]{2,60}\\.[a-z]{2,20} is for sale', '^is for sale\\b', 'this is your first post', 'please contact your hosting provider', 'a new website will be', 'default (?:welcome )?page used to test', '(?:nginx )?web server is successfully installed', 'account has been suspended', 'this store is (?:currently )?unavailable', 'domain steht zum verkauf', 'hier entsteht eine neue', 'is parked free', 'site (?:est )?en construction', 'sitio en construcción', 'сайт находится в разработке', 'الموقع قيد الإنشاء', 'nom de domaine est à vendre', 'dominio está en venta', '域名(?:正在)?出售', 'домен прода[её]тся', 'ドメインは(?:販売中|売り)', 'النطاق معروض للبيع'),
    ],
    adds: [
      any(...ASIDES.parked_domain, 'get a price in less than', 'click here to inquire', 'related searches', 'contact your (?:registrar|hosting provider)', 'further configuration is required', 'welcome to wordpress', 'start a payment plan', 'owner of this website', 'stay tuned', 'correct operation of the'),
    ],
  },
  age_gate: {
    names: whole('age (?:verification|check|gate|restriction)', 'are you (?:over|at least) (?:18|21)(?: years old)?', 'altersprüfung', 'bist du über 18', "avez-vous l'âge légal ?", '¿eres mayor de edad', 'вам есть 18 лет', 'sind (?:sie|du) (?:über )?18(?: jahre)?(?: oder älter| alt)?', 'avez-vous (?:plus de |au moins )?18 ans', 'hai più di 18 anni', 'tem mais de 18 anos', '¿(?:eres|tienes|es) (?:mayor de|más de) (?:edad|18 años)', 'هل عمرك أكثر من 18', '您是否年满18周岁', 'あなたは20歳以上ですか', 'please enter your date of birth'),
    says: [
      any(...SENTENCES.age_gate, 'you must be (?:18|21|of legal)[^.]{0,40} to (?:enter|view|access|visit)', 'please (?:confirm|verify|enter) your (?:age|date of birth)', 'by entering(?: this site)?,? you (?:confirm|certify|agree) that you are (?:over|at least|of)', 'are you (?:over|at least) (?:18|21)', 'bestätigen sie, dass sie mindestens', "avoir l'âge légal pour (?:accéder|entrer)", 'ser mayor de (?:18 años|edad) para', 'подтвердите свой возраст', '确认您的年龄', '年齢確認をお願い'),
    ],
    adds: [any(...ASIDES.age_gate)],
  },
  paywall: {
    names: whole('subscribe to (?:continue|read)(?: reading)?', 'you have reached your limit of free articles', 'subscribers only'),
    says: [
      any(...SENTENCES.paywall, 'subscribe (?:now )?to (?:continue|keep|read|unlock)', '(?:to|and) (?:continue|keep) reading,? subscribe', 'reached your (?:limit|monthly limit) of free', '(?:article|story|post|content) is (?:only )?for (?:paid |paying )?(?:subscribers|paid members)', 'this is a (?:premium|subscriber)(?:-only)? article', 'unlock (?:it|this article) with a subscription', 'keep reading with a', 'preview of subscription content', 'access through your institution', 'weiterlesen mit', 'artikel ist nur für abonnenten', 'réservé aux abonnés', 'il vous reste \\d', 'exclusivo para suscriptores', 'suscríbete para seguir leyendo', 'المحتوى للمشتركين', 'متابعة القراءة', '付费内容', '订阅后阅读', '有料会員限定', '(?:残り|あと)\\d+文字', 'доступен только подписчикам', 'subscribe to (?:read|see) ', 'abonnez-vous pour lire',  'оформите подписку, чтобы', '(?:story|article|content) is for (?:subscribers|members)(?: only)?\\b',  'read the rest of this (?:story|article)', 'suite (?:de cet article )?est réservée', 'contenido exclusivo para suscriptores', 'riservato agli abbonati', 'abbonati per continuare', 'conteúdo exclusivo para assinantes', 'tylko dla prenumeratorów', 'artikel freischalten'),
    ],
    adds: [
      any(...ASIDES.paywall, 'already a subscriber', 'cancel anytime', 'free trial', 'unlimited access', 'jetzt abonnieren', 'buy this article', 'subscribe now'),
    ],
  },
  login_wall: {
    names: whole('(?:log|sign) ?in(?: to .{1,40})?', 'login(?: to .{1,40})?', '(?:sign|log) in to continue(?: to .{1,40})?', 'sign up', 'members only', 'session expired', 'your session has expired', 'join to view .{1,40}', 'anmelden', 'anmeldung', 'connexion', 'iniciar sesión', 'تسجيل الدخول', '登录', '登入', 'ログイン', 'вход', 'войти', '.{1,60} login service', 'single sign-on', 'accedi', 'entrar', 'inloggen', 'giriş yap', 'zaloguj się', '로그인', 'logga in', 'bitte melden sie sich an'),
    says: [
      any(...SENTENCES.login_wall, '(?:must|need to|have to) (?:be logged in|be signed in|log in|sign in|login)(?: or \\w+)? to (?:view|see|access|read|continue)', 'registered and logged in to view', '(?:log|sign) in (?:or (?:sign up|register) )?to (?:continue|view|see|access)', 'please (?:log|sign) in (?:again|or register)', 'is for members only', 'you are not (?:logged|signed) in', 'bitte melden sie sich an',  'your session has expired(?! when| if| after)', 'join to view', 'melden sie sich an, um', 'devez être connecté', 'debes iniciar sesión', 'يجب تسجيل الدخول', '请先登录', '(?:表示|閲覧)するには(?:ログイン|会員登録)', 'страницу, войдите'),
    ],
    adds: [
      any(...ASIDES.login_wall, 'forgot(?:ten)? (?:your |my )?password', "(?:don't|do not) have an account", 'already a member', 'create (?:an )?account', 'passwort vergessen', 'mot de passe oublié', 'olvidaste tu contraseña', 'نسيت كلمة المرور', '忘记密码', 'パスワードをお忘れ', 'забыли пароль', 'password dimenticata', 'esquec(?:eu|i)(?: a)? (?:sua )?senha', 'wachtwoord vergeten', 'şifremi unuttum', 'zapomniałe', '비밀번호 찾기', '(?:sign|log) in with (?:google|apple|facebook|sso|microsoft)', 'continue with (?:google|apple|facebook)', 'new to .{1,30}\\? join', 'username and password'),
    ],
  },
  consent_wall: {
    about: whole('cookies?', 'consent', '(?:cookie|privacy)s?(?: policy| notice| statement)?', 'cookie-richtlinie', 'datenschutz(?:erklärung)?', 'politique (?:de cookies|des cookies|de confidentialité)', 'política de (?:cookies|privacidad)', 'سياسة (?:الخصوصية|ملفات تعريف الارتباط)', 'ملفات تعريف الارتباط'),
    names: whole('before you continue(?: to .{1,40})?', 'we (?:value|respect|care about) your privacy', 'accept or subscribe', 'continue with advertising or subscribe', 'bevor sie fortfahren', 'wir schätzen ihre privatsphäre', "avant (?:de continuer|d'accéder au site)", 'tu privacidad(?: es importante para nosotros)?', 'قبل (?:المتابعة|أن تتابع)', '続行する前に', '继续之前', 'прежде чем продолжить', "le respect de votre vie privée(?: est notre priorité)?", 'votre vie privée', 'valoramos tu privacidad', 'la tua privacy è importante(?: per noi)?', 'nutzen sie unsere seite mit werbung', 'voordat (?:je|u) (?:verdergaat|verder gaat)', '.{1,40} is part of the .{1,40} family of brands'),
    says: [
      any(...SENTENCES.consent_wall, 'we use cookies', 'uses cookies to', 'we and our (?:\\d+ )?partners', 'accept cookies to continue', 'wir (?:verwenden|nutzen) cookies', 'partner (?:verwenden|nutzen|speichern) cookies', 'partners use cookies', 'speichern cookies', 'verwendung von cookies zu', 'utilisons des cookies', 'utilizamos cookies', 'نستخدم ملفات تعريف', 'cookieを使用', '使用 ?cookie', 'используем файлы cookie', 'nous et nos (?:\\d+ )?partenaires|nos (?:\\d+ )?partenaires et nous', 'nosotros y nuestros (?:\\d+ )?socios', 'noi e i nostri (?:\\d+ )?partner', 'wij gebruiken cookies', 'mit werbung und tracking', 'utilizziamo (?:i )?cookie', 'używamy plików cookie', 'nós e nossos (?:\\d+ )?parceiros'),
      any(...ASIDES.consent_wall, 'accept all', 'reject all', 'click to consent', 'manage options', 'accept cookies', 'alle (?:akzeptieren|ablehnen)', 'tout accepter', 'aceptar todo', 'قبول الكل', 'すべて同意', '全部接受', 'принять все', 'continuer sans accepter', 'accepter (?:et|&) fermer', 'aceptar y continuar', 'accetta (?:tutto|e continua)', 'alles (?:accepteren|afwijzen)', '^(?:allow|deny) all\\W*$', '^zustimmen\\W*$', '^(?:i )?(?:agree|accept|reject|decline|refuse)\\W*$', '^(?:akzeptieren|ablehnen|accepter|refuser|aceptar|rechazar|accetta|rifiuta|موافق|قبول)\\W*$',   'akzeptieren und weiter', 'aceitar tudo', 'zaakceptuj wszystko'),
    ],
  },
  empty_listing: {
    names: whole('no results(?: found)?', '0 results', 'your (?:basket|cart) is empty'),
    says: [
      any(...SENTENCES.empty_listing, 'no (?:products|items|results|listings|entries|jobs) (?:were |was |have been )?(?:found|available|match)(?: (?:for|matching) |\\W*$)', 'there are no (?:products|items|entries|listings|results)', "couldn't find any results", 'did not match any', 'no (?:products|items|results|listings) match your', 'no hemos encontrado resultados', '^0 (?:results|products|items)\\W*$', 'your (?:basket|cart|shopping bag) is empty', 'keine (?:produkte|artikel|ergebnisse|treffer) gefunden', 'aucun (?:produit|résultat)', 'no se (?:han encontrado|encontraron) (?:productos|resultados)', 'لا توجد (?:منتجات|نتائج)', '没有找到(?:相关|匹配)?', '該当する(?:商品|結果|ページ)(?:が|は)', 'ничего не найдено', 'ergab keine (?:treffer|ergebnisse)', 'nessun risultato', 'nothing matched your', 'nenhum resultado', 'geen resultaten', 'sonuç bulunamadı', '검색 결과가 없습니다', 'nie znaleziono (?:wyników|produktów)'),
    ],
    adds: [
      any(...ASIDES.empty_listing, 'make sure (?:that )?all words are spelled', 'try (?:different|other|more general) (?:keywords|words|search terms)', 'check (?:the|your) spelling', 'continue shopping', 'try (?:again with|removing) '),
    ],
  },
  refresh_stub: {
    names: whole('redirecting', 'redirection', 'page moved', 'object moved', '(?:301 )?moved permanently', '302 found', 'weiterleitung', 'redirigiendo', 'إعادة توجيه', '跳转中', '移動しました', 'перенаправление', 'this page has moved'),
    says: [
      any(...SENTENCES.refresh_stub, 'you (?:are being|will be) redirected', '^redirecting\\W*$', 'object moved to', '(?:document|page) has moved', 'sie werden weitergeleitet', 'allez être redirigé', '^redirigiendo', 'إعادة توجيهك', '页面正在跳转', 'ページは移動しました', 'вы будете перенаправлены'),
    ],
    adds: [
      any('click here', 'klicken sie hier', 'cliquez ici', 'haga clic aquí', 'اضغط هنا', '点击这里', 'クリックしてください', 'нажмите здесь', 'update your bookmarks'),
    ],
  },
  script_shell: {
    names: whole('unsupported browser', 'javascript (?:is )?(?:not available|required|disabled)', 'your browser is not supported'),
    says: [
      any(...SENTENCES.script_shell, '^(?:loading|please wait|one moment)(?:[ ,]*(?:please wait|products|content|page|data|the (?:page|app)))?\\W*$', '^wird geladen\\W*$', '^chargement(?: en cours)?\\W*$', '^cargando\\W*$', '^جار[ٍي]? ?(?:التحميل)\\W*$', '^加载中', '^読み込み中', '^загрузка\\W*$'),
      any('(?:need to|must|please) enable javascript', "doesn't work properly without javascript", 'javascript is (?:required|disabled)', 'aktivieren sie javascript', 'habilitar javascript', '启用 ?javascript', 'javascriptを有効', 'включите javascript', 'activer javascript', 'your browser is not supported', 'upgrade to a newer browser', 'your browser is (?:out of date|outdated|no longer supported)', 'upgrade your browser', 'works best with javascript', 'requires javascript'),
    ],
    adds: [any(...ASIDES.script_shell)],
  },
}
