// The torture messages of RFC 4475 (and of RFC 5118, for IPv6), by their names there. `answer` is what the server says:
// a status, or `dropped`; `parsed` whether our text stage and grammar take it. The server admits every number and is
// busy, so a valid INVITE ends in 486, a valid REGISTER in 403, a valid OPTIONS in 200.

export interface Torture {
  readonly name: string
  readonly answer: number | "dropped"
  readonly parsed: boolean
  readonly message: string
}

const lines = (text: string): string => text.replace(/^\n/, "").replaceAll("\n", "\r\n")

const body = (address: string, time = "0 0"): string =>
  lines(`
v=0
o=mhandley 29739 7272939 IN IP4 ${address}
s=-
c=IN IP4 ${address}
t=${time}
m=audio 49217 RTP/AVP 0 12
m=video 3227 RTP/AVP 31
a=rtpmap:31 LPC
`)

const message = (head: string, content = ""): string => `${lines(head)}\r\n${content}`

const torture = (name: string, answer: Torture["answer"], parsed: boolean, text: string): Torture => ({
  name,
  answer,
  parsed,
  message: text
})

const many = (count: number, text: string): string => text.repeat(count)
const oddMethod = "!interesting-Method0123456789_*+`.%indeed'~"

export const valid: ReadonlyArray<Torture> = [
  // In a dialog that is not there.
  torture(
    "wsinv",
    481,
    true,
    message(
      `
INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0
TO :
 sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n
from   : "J Rosenberg \\\\\\""       <sip:jdrosen@example.com>
  ;
  tag = 98asjd8
MaX-fOrWaRdS: 0068
Call-ID: wsinv.ndaksdj@192.0.2.1
Content-Length   : 150
cseq: 0009
  INVITE
Via  : SIP  /   2.0
 /UDP
    192.0.2.2;branch=390skdjuw
s :
NewFangledHeader:   newfangled value
 continued newfangled value
UnknownHeaderWithUnusualValue: ;;,,;;,;
Content-Type: application/sdp
Route:
 <sip:services.example.com;lr;unknownwith=value;unknown-no-value>
v:  SIP  / 2.0  / TCP     spindle.example.com   ;
  branch  =   z9hG4bK9ikj8  ,
 SIP  /    2.0   / UDP  192.168.255.111   ; branch=
 z9hG4bK30239
m:"Quoted string \\"\\"" <sip:jdrosen@example.com> ; newparam =
      newvalue ;
  secondparam ; q = 0.33
`,
      body("192.0.2.3").replace("c=IN IP4 192.0.2.3", "c=IN IP4 192.0.2.4")
    )
  ),
  torture(
    "intmeth",
    501,
    true,
    message(`
${oddMethod} sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com SIP/2.0
Via: SIP/2.0/TCP host1.example.com;branch=z9hG4bK-.!%66*_+\`'~
To: "BEL:\\\u0007 NUL:\\\u0000 DEL:\\\u007f" <sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*@example.com>
From: token1~\` token2'+_ token3*%!.- <sip:mundane@example.com>;fromParam''~+*_!.-%="\u0440\u0430\u0431\u043e\u0442\u0430\u044e\u0449\u0438\u0439";tag=_token~1'+\`*%!-.
Call-ID: intmeth.word%ZK-!.*_+'@word\`~)(><:\\/"][?}{
CSeq: 139122385 ${oddMethod}
Max-Forwards: 255
extensionHeader-!.%*+_\`'~:\ufeff\u5927\u505c\u96fb
Content-Length: 0
`)
  ),
  torture(
    "esc01",
    486,
    true,
    message(
      `
INVITE sip:sips%3Auser%40example.com@example.net SIP/2.0
To: sip:%75se%72@example.com
From: <sip:I%20have%20spaces@example.net>;tag=938
Max-Forwards: 87
i: esc01.239409asdfakjkn23onasd0-3234
CSeq: 234234 INVITE
Via: SIP/2.0/UDP host5.example.net;branch=z9hG4bKkdjuw
C: application/sdp
Contact:
  <sip:cal%6Cer@host5.example.net;%6C%72;n%61me=v%61lue%25%34%31>
Content-Length: 150
`,
      body("192.0.2.1")
    )
  ),
  torture(
    "escnull",
    403,
    true,
    message(`
REGISTER sip:example.com SIP/2.0
To: sip:null-%00-null@example.com
From: sip:null-%00-null@example.com;tag=839923423
Max-Forwards: 70
Call-ID: escnull.39203ndfvkjdasfkq3w4otrq0adsfdfnavd
CSeq: 14398234 REGISTER
Via: SIP/2.0/UDP host5.example.com;branch=z9hG4bKkdjuw
Contact: <sip:%00@host5.example.com>
Contact: <sip:%00%00@host5.example.com>
L:0
`)
  ),
  torture(
    "esc02",
    501,
    true,
    message(`
RE%47IST%45R sip:registrar.example.com SIP/2.0
To: "%Z%45" <sip:resource@example.com>
From: "%Z%45" <sip:resource@example.com>;tag=f232jadfj23
Call-ID: esc02.asdfnqwo34rq23i34jrjasdcnl23nrlknsdf
Via: SIP/2.0/TCP host.example.com;branch=z9hG4bK209%fzsnel234
CSeq: 29344 RE%47IST%45R
Max-Forwards: 70
Contact: <sip:alias1@host1.example.com>
C%6Fntact: <sip:alias2@host2.example.com>
Contact: <sip:alias3@host3.example.com>
l: 0
`)
  ),
  torture(
    "lwsdisp",
    200,
    true,
    message(`
OPTIONS sip:user@example.com SIP/2.0
To: sip:user@example.com
From: caller<sip:caller@example.com>;tag=323
Max-Forwards: 70
Call-ID: lwsdisp.1234abcd@funky.example.com
CSeq: 60 OPTIONS
Via: SIP/2.0/UDP funky.example.com;branch=z9hG4bKkdjuw
l: 0
`)
  ),
  torture(
    "longreq",
    486,
    true,
    message(
      `
INVITE sip:user@example.com SIP/2.0
To: "I have a user name of ${many(10, "extreme")} proportion"<sip:user@example.com:6000;unknownparam1=very${many(20, "long")}value;longparam${many(25, "name")}=shortvalue;very${many(25, "long")}ParameterNameWithNoValue>
F: sip:${many(5, "amazinglylongcallername")}@example.net;tag=12${many(50, "982")}424;unknownheaderparam${many(20, "name")}=unknowheaderparam${many(15, "value")};unknownValueless${many(10, "paramname")}
Call-ID: longreq.one${many(20, "really")}longcallid
CSeq: 3882340 INVITE
Unknown-${many(20, "Long")}-Name: unknown-${many(20, "long")}-value; unknown-${many(20, "long")}-parameter-name = unknown-${many(20, "long")}-parameter-value
Via: SIP/2.0/TCP sip33.example.com
v: SIP/2.0/TCP sip32.example.com
V: SIP/2.0/TCP sip31.example.com
${Array.from({ length: 30 }, (_, i) => `${["Via", "ViA", "VIa", "VIA", "v  ", "V :".slice(0, 2)][i % 6]}: SIP/2.0/TCP sip${30 - i}.example.com`).join("\n")}
Via: SIP/2.0/TCP host.example.com;received=192.0.2.5;branch=very${many(50, "long")}branchvalue
Max-Forwards: 70
Contact: <sip:${many(5, "amazinglylongcallername")}@host5.example.net>
Content-Type: application/sdp
l: 150
`,
      body("192.0.2.1")
    )
  ),
  // One answer: the second request in the datagram is none.
  torture(
    "dblreq",
    403,
    true,
    message(
      `
REGISTER sip:example.com SIP/2.0
To: sip:j.user@example.com
From: sip:j.user@example.com;tag=43251j3j324
Max-Forwards: 8
I: dblreq.0ha0isndaksdj99sdfafnl3lk233412
Contact: sip:j.user@host.example.com
CSeq: 8 REGISTER
Via: SIP/2.0/UDP 192.0.2.125;branch=z9hG4bKkdjuw23492
Content-Length: 0
`,
      message(
        `

INVITE sip:joe@example.com SIP/2.0
t: sip:joe@example.com
From: sip:caller@example.net;tag=141334
Max-Forwards: 8
Call-ID: dblreq.0ha0isnda977644900765@192.0.2.15
CSeq: 8 INVITE
Via: SIP/2.0/UDP 192.0.2.15;branch=z9hG4bKkdjuw380234
Content-Type: application/sdp
Content-Length: 150
`,
        body("192.0.2.15")
      )
    )
  ),
  torture(
    "semiuri",
    200,
    true,
    message(`
OPTIONS sip:user;par=u%40example.net@example.com SIP/2.0
To: sip:j_user@example.com
From: sip:caller@example.org;tag=33242
Max-Forwards: 3
Call-ID: semiuri.0ha0isndaksdj
CSeq: 8 OPTIONS
Accept: application/sdp, application/pkcs7-mime,
        multipart/mixed, multipart/signed,
        message/sip, message/sipfrag
Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKkdjuw
l: 0
`)
  ),
  torture(
    "transports",
    200,
    true,
    message(`
OPTIONS sip:user@example.com SIP/2.0
To: sip:user@example.com
From: <sip:caller@example.com>;tag=323
Max-Forwards: 70
Call-ID:  transports.kijh4akdnaqjkwendsasfdj
Accept: application/sdp
CSeq: 60 OPTIONS
Via: SIP/2.0/UDP t1.example.com;branch=z9hG4bKkdjuw
Via: SIP/2.0/SCTP t2.example.com;branch=z9hG4bKklasjdhf
Via: SIP/2.0/TLS t3.example.com;branch=z9hG4bK2980unddj
Via: SIP/2.0/UNKNOWN t4.example.com;branch=z9hG4bKasd0f3en
Via: SIP/2.0/TCP t5.example.com;branch=z9hG4bK0a9idfnee
l: 0
`)
  ),
  // The signature's bytes are stood in for by others of every value.
  torture(
    "mpart01",
    405,
    true,
    message(
      `
MESSAGE sip:kumiko@example.org SIP/2.0
Via: SIP/2.0/UDP 127.0.0.1:5070;branch=z9hG4bK-d87543-4dade06d0bdb11ee-1--d87543-;rport
Max-Forwards: 70
Route: <sip:127.0.0.1:5080>
Identity: r5mwreLuyDRYBi/0TiPwEsY3rEVsk/G2WxhgTV1PF7hHuLIK0YWVKZhKv9Mj8UeXqkMVbnVq37CD+813gvYjcBUaZngQmXc9WNZSDNGCzA+fWl9MEUHWIZo1CeJebdY/XlgKeTa0Olvq0rt70Q5jiSfbqMJmQFteeivUhkMWYUA=
Contact: <sip:fluffy@127.0.0.1:5070>
To: <sip:kumiko@example.org>
From: <sip:fluffy@example.com>;tag=2fb0dcc9
Call-ID: 3d9485ad0c49859b@Zmx1ZmZ5LW1hYy0xNi5sb2NhbA..
CSeq: 1 MESSAGE
Content-Transfer-Encoding: binary
Content-Type: multipart/mixed;boundary=7a9cbec02ceef655
Date: Sat, 15 Oct 2005 04:44:56 GMT
User-Agent: SIPimp.org/0.2.5 (curses)
`,
      `--7a9cbec02ceef655\r\nContent-Type: text/plain\r\n\r\nHello\r\n--7a9cbec02ceef655\r\nContent-Type: application/octet-stream\r\n\r\n${String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i))}\r\n--7a9cbec02ceef655--`
    )
  ),
  torture(
    "unreason",
    "dropped",
    true,
    message(
      `
SIP/2.0 200 = 2**3 * 5**2 \u043d\u043e \u0441\u0442\u043e \u0434\u0435\u0432\u044f\u043d\u043e\u0441\u0442\u043e \u0434\u0435\u0432\u044f\u0442\u044c - \u043f\u0440\u043e\u0441\u0442\u043e\u0435
Via: SIP/2.0/UDP 192.0.2.198;branch=z9hG4bK1324923
Call-ID: unreason.1234ksdfak3j2erwedfsASdf
CSeq: 35 INVITE
From: sip:user@example.com;tag=11141343
To: sip:user@example.edu;tag=2229
Content-Length: 154
Content-Type: application/sdp
Contact: <sip:user@host198.example.com>
`,
      body("192.0.2.198")
    )
  ),
  torture(
    "noreason",
    "dropped",
    true,
    message(`
SIP/2.0 100 ${""}
Via: SIP/2.0/UDP 192.0.2.105;branch=z9hG4bK2398ndaoe
Call-ID: noreason.asndj203insdf99223ndf
CSeq: 35 INVITE
From: <sip:user@example.com>;tag=39ansfi3
To: <sip:user@example.edu>;tag=902jndnke3
Content-Length: 0
Contact: <sip:user@host105.example.com>
`)
  )
]

export const invalid: ReadonlyArray<Torture> = [
  torture(
    "badinv01",
    400,
    false,
    message(
      `
INVITE sip:user@example.com SIP/2.0
To: sip:j.user@example.com
From: sip:caller@example.net;tag=134161461246
Max-Forwards: 7
Call-ID: badinv01.0ha0isndaksdjasdf3234nas
CSeq: 8 INVITE
Via: SIP/2.0/UDP 192.0.2.15;;,;,,
Contact: "Joe" <sip:joe@example.org>;;;;
Content-Length: 152
Content-Type: application/sdp
`,
      body("192.0.2.15")
    )
  ),
  torture(
    "clerr",
    400,
    false,
    message(
      `
INVITE sip:user@example.com SIP/2.0
Max-Forwards: 80
To: sip:j.user@example.com
From: sip:caller@example.net;tag=93942939o2
Contact: <sip:caller@hungry.example.net>
Call-ID: clerr.0ha0isndaksdjweiafasdk3
CSeq: 8 INVITE
Via: SIP/2.0/UDP host5.example.com;branch=z9hG4bK-39234-23523
Content-Type: application/sdp
Content-Length: 9999
`,
      body("192.0.2.155")
    )
  ),
  torture(
    "ncl",
    400,
    false,
    message(
      `
INVITE sip:user@example.com SIP/2.0
Max-Forwards: 254
To: sip:j.user@example.com
From: sip:caller@example.net;tag=32394234
Call-ID: ncl.0ha0isndaksdj2193423r542w35
CSeq: 0 INVITE
Via: SIP/2.0/UDP 192.0.2.53;branch=z9hG4bKkdjuw
Contact: <sip:caller@example53.example.net>
Content-Type: application/sdp
Content-Length: -999
`,
      body("192.0.2.53")
    )
  ),
  torture(
    "scalar02",
    400,
    true,
    message(`
REGISTER sip:example.com SIP/2.0
Via: SIP/2.0/TCP host129.example.com;branch=z9hG4bK342sdfoi3
To: <sip:user@example.com>
From: <sip:user@example.com>;tag=239232jh3
CSeq: 36893488147419103232 REGISTER
Call-ID: scalar02.23o0pd9vanlq3wnrlnewofjas9ui32
Max-Forwards: 300
Expires: 1${many(100, "0")}
Contact: <sip:user@host129.example.com>
  ;expires=280297596632815
Content-Length: 0
`)
  ),
  torture(
    "scalarlg",
    "dropped",
    true,
    message(`
SIP/2.0 503 Service Unavailable
Via: SIP/2.0/TCP host129.example.com;branch=z9hG4bKzzxdiwo34sw;received=192.0.2.129
To: <sip:user@example.com>
From: <sip:other@example.net>;tag=2easdjfejw
CSeq: 9292394834772304023312 OPTIONS
Call-ID: scalarlg.noase0of0234hn2qofoaf0232aewf2394r
Retry-After: 949302838503028349304023988
Warning: 1812 overture "In Progress"
Content-Length: 0
`)
  ),
  torture(
    "quotbal",
    400,
    false,
    message(
      `
INVITE sip:user@example.com SIP/2.0
To: "Mr. J. User <sip:j.user@example.com>
From: sip:caller@example.net;tag=93334
Max-Forwards: 10
Call-ID: quotbal.aksdj
Contact: <sip:caller@host59.example.net>
CSeq: 8 INVITE
Via: SIP/2.0/UDP 192.0.2.59:5050;branch=z9hG4bKkdjuw39234
Content-Type: application/sdp
Content-Length: 152
`,
      body("192.0.2.15")
    )
  ),
  torture(
    "ltgtruri",
    400,
    false,
    message(
      `
INVITE <sip:user@example.com> SIP/2.0
To: sip:user@example.com
From: sip:caller@example.net;tag=39291
Max-Forwards: 23
Call-ID: ltgtruri.1@192.0.2.5
CSeq: 1 INVITE
Via: SIP/2.0/UDP 192.0.2.5
Contact: <sip:caller@host5.example.net>
Content-Type: application/sdp
Content-Length: 159
`,
      body("192.0.2.5", "3149328700 0")
    )
  ),
  torture(
    "lwsruri",
    400,
    false,
    message(
      `
INVITE sip:user@example.com; lr SIP/2.0
To: sip:user@example.com;tag=3xfe-9921883-z9f
From: sip:caller@example.net;tag=231413434
Max-Forwards: 5
Call-ID: lwsruri.asdfasdoeoi2323-asdfwrn23-asd834rk423
CSeq: 2130706432 INVITE
Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKkdjuw2395
Contact: <sip:caller@host1.example.net>
Content-Type: application/sdp
Content-Length: 159
`,
      body("192.0.2.1", "3149328700 0")
    )
  ),
  torture(
    "lwsstart",
    400,
    false,
    message(
      `
INVITE  sip:user@example.com  SIP/2.0
Max-Forwards: 8
To: sip:user@example.com
From: sip:caller@example.net;tag=8814
Call-ID: lwsstart.dfknq234oi243099adsdfnawe3@example.com
CSeq: 1893884 INVITE
Via: SIP/2.0/UDP host1.example.com;branch=z9hG4bKkdjuw3923
Contact: <sip:caller@host1.example.net>
Content-Type: application/sdp
Content-Length: 150
`,
      body("192.0.2.1")
    )
  ),
  torture(
    "trws",
    400,
    false,
    message(`
OPTIONS sip:remote-target@example.com SIP/2.0  ${""}
Via: SIP/2.0/TCP host1.examle.com;branch=z9hG4bK299342093
To: <sip:remote-target@example.com>
From: <sip:local-resource@example.com>;tag=329429089
Call-ID: trws.oicu34958239neffasdhr2345r
Accept: application/sdp
CSeq: 238923 OPTIONS
Max-Forwards: 70
Content-Length: 0
`)
  ),
  torture(
    "escruri",
    400,
    true,
    message(
      `
INVITE sip:user@example.com?Route=%3Csip:example.com%3E SIP/2.0
To: sip:user@example.com
From: sip:caller@example.net;tag=341518
Max-Forwards: 7
Contact: <sip:caller@host39923.example.net>
Call-ID: escruri.23940-asdfhj-aje3br-234q098w-fawerh2q-h4n5
CSeq: 149209342 INVITE
Via: SIP/2.0/UDP host-of-the-hour.example.com;branch=z9hG4bKkdjuw
Content-Type: application/sdp
Content-Length: 150
`,
      body("192.0.2.1")
    )
  ),
  // A Date in another zone may be overlooked, and is.
  torture(
    "baddate",
    486,
    true,
    message(
      `
INVITE sip:user@example.com SIP/2.0
To: sip:user@example.com
From: sip:caller@example.net;tag=2234923
Max-Forwards: 70
Call-ID: baddate.239423mnsadf3j23lj42--sedfnm234
CSeq: 1392934 INVITE
Via: SIP/2.0/UDP host.example.com;branch=z9hG4bKkdjuw
Date: Fri, 01 Jan 2010 16:00:00 EST
Contact: <sip:caller@host5.example.net>
Content-Type: application/sdp
Content-Length: 150
`,
      body("192.0.2.5")
    )
  ),
  // Refused for being a registration at all.
  torture(
    "regbadct",
    403,
    false,
    message(`
REGISTER sip:example.com SIP/2.0
To: sip:user@example.com
From: sip:user@example.com;tag=998332
Max-Forwards: 70
Call-ID: regbadct.k345asrl3fdbv@10.0.0.1
CSeq: 1 REGISTER
Via: SIP/2.0/UDP 135.180.130.133:5060;branch=z9hG4bKkdjuw
Contact: sip:user@example.com?Route=%3Csip:sip.example.com%3E
l: 0
`)
  ),
  // The RFC lets the lenient be lenient.
  torture(
    "badaspec",
    200,
    false,
    message(`
OPTIONS sip:user@example.org SIP/2.0
Via: SIP/2.0/UDP host4.example.com:5060;branch=z9hG4bKkdju43234
Max-Forwards: 70
From: "Bell, Alexander" <sip:a.g.bell@example.com>;tag=433423
To: "Watson, Thomas" < sip:t.watson@example.org >
Call-ID: badaspec.sdf0234n2nds0a099u23h3hnnw009cdkne3
Accept: application/sdp
CSeq: 3923239 OPTIONS
l: 0
`)
  ),
  torture(
    "baddn",
    200,
    false,
    message(`
OPTIONS sip:t.watson@example.org SIP/2.0
Via:     SIP/2.0/UDP c.example.com:5060;branch=z9hG4bKkdjuw
Max-Forwards:      70
From:    Bell, Alexander <sip:a.g.bell@example.com>;tag=43
To:      Watson, Thomas <sip:t.watson@example.org>
Call-ID: baddn.31415@c.example.com
Accept: application/sdp
CSeq:    3923239 OPTIONS
l: 0
`)
  ),
  torture(
    "badvers",
    505,
    false,
    message(`
OPTIONS sip:t.watson@example.org SIP/7.0
Via:     SIP/7.0/UDP c.example.com;branch=z9hG4bKkdjuw
Max-Forwards:     70
From:    A. Bell <sip:a.g.bell@example.com>;tag=qweoiqpe
To:      T. Watson <sip:t.watson@example.org>
Call-ID: badvers.31417@c.example.com
CSeq:    1 OPTIONS
l: 0
`)
  ),
  torture(
    "mismatch01",
    400,
    true,
    message(`
OPTIONS sip:user@example.com SIP/2.0
To: sip:j.user@example.com
From: sip:caller@example.net;tag=34525
Max-Forwards: 6
Call-ID: mismatch01.dj0234sxdfl3
CSeq: 8 INVITE
Via: SIP/2.0/UDP host.example.com;branch=z9hG4bKkdjuw
l: 0
`)
  ),
  torture(
    "mismatch02",
    400,
    true,
    message(
      `
NEWMETHOD sip:user@example.com SIP/2.0
To: sip:j.user@example.com
From: sip:caller@example.net;tag=34525
Max-Forwards: 6
Call-ID: mismatch02.dj0234sxdfl3
CSeq: 8 INVITE
Contact: <sip:caller@host.example.net>
Via: SIP/2.0/UDP host.example.net;branch=z9hG4bKkdjuw
Content-Type: application/sdp
l: 138
`,
      body("192.0.2.1").replace("s=-\r\n", "").replace("t=0 0\r\n", "")
    )
  ),
  torture(
    "bigcode",
    "dropped",
    false,
    message(`
SIP/2.0 4294967301 better not break the receiver
Via: SIP/2.0/UDP 192.0.2.105;branch=z9hG4bK2398ndaoe
Call-ID: bigcode.asdof3uj203asdnf3429uasdhfas3ehjasdfas9i
CSeq: 353494 INVITE
From: <sip:user@example.com>;tag=39ansfi3
To: <sip:user@example.edu>;tag=902jndnke3
Content-Length: 0
Contact: <sip:user@host105.example.com>
`)
  )
]

export const semantic: ReadonlyArray<Torture> = [
  torture(
    "badbranch",
    200,
    true,
    message(`
OPTIONS sip:user@example.com SIP/2.0
To: sip:user@example.com
From: sip:caller@example.org;tag=33242
Max-Forwards: 3
Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK
Accept: application/sdp
Call-ID: badbranch.sadonfo23i420jv0as0derf3j3n
CSeq: 8 OPTIONS
l: 0
`)
  ),
  // Without From, To and Call-ID there is nothing to answer with.
  torture(
    "insuf",
    "dropped",
    false,
    message(
      `
INVITE sip:user@example.com SIP/2.0
CSeq: 193942 INVITE
Via: SIP/2.0/UDP 192.0.2.95;branch=z9hG4bKkdj.insuf
Content-Type: application/sdp
l: 152
`,
      body("192.0.2.95")
    )
  ),
  torture(
    "unkscm",
    416,
    true,
    message(`
OPTIONS nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0
To: sip:user@example.com
From: sip:caller@example.net;tag=384
Max-Forwards: 3
Call-ID: unkscm.nasdfasser0q239nwsdfasdkl34
CSeq: 3923423 OPTIONS
Via: SIP/2.0/TCP host9.example.com;branch=z9hG4bKkdjuw39234
Content-Length: 0
`)
  ),
  torture(
    "novelsc",
    416,
    true,
    message(`
OPTIONS soap.beep://192.0.2.103:3002 SIP/2.0
To: sip:user@example.com
From: sip:caller@example.net;tag=384
Max-Forwards: 3
Call-ID: novelsc.asdfasser0q239nwsdfasdkl34
CSeq: 3923423 OPTIONS
Via: SIP/2.0/TCP host9.example.com;branch=z9hG4bKkdjuw39234
Content-Length: 0
`)
  ),
  // Valid in form; the grammar takes no From but sip, sips and tel. Refused all the same.
  torture(
    "unksm2",
    403,
    false,
    message(`
REGISTER sip:example.com SIP/2.0
To: isbn:2983792873
From: <http://www.example.com>;tag=3234233
Call-ID: unksm2.daksdj@hyphenated-host.example.com
CSeq: 234902 REGISTER
Max-Forwards: 70
Via: SIP/2.0/UDP 192.0.2.21:5060;branch=z9hG4bKkdjuw
Contact: <name:John_Smith>
l: 0
`)
  ),
  torture(
    "bext01",
    420,
    true,
    message(`
OPTIONS sip:user@example.com SIP/2.0
To: sip:j_user@example.com
From: sip:caller@example.net;tag=242etr
Max-Forwards: 6
Call-ID: bext01.0ha0isndaksdj
Require: nothingSupportsThis, nothingSupportsThisEither
Proxy-Require: noProxiesSupportThis, norDoAnyProxiesSupportThis
CSeq: 8 OPTIONS
Via: SIP/2.0/TLS fold-and-staple.example.com;branch=z9hG4bKkdjuw
Content-Length: 0
`)
  ),
  torture(
    "invut",
    415,
    true,
    message(
      `
INVITE sip:user@example.com SIP/2.0
Contact: <sip:caller@host5.example.net>
To: sip:j.user@example.com
From: sip:caller@example.net;tag=8392034
Max-Forwards: 70
Call-ID: invut.0ha0isndaksdjadsfij34n23d
CSeq: 235448 INVITE
Via: SIP/2.0/UDP somehost.example.com;branch=z9hG4bKkdjuw
Content-Type: application/unknownformat
Content-Length: 40
`,
      '<audio>\r\n <pcmu port="443"/>\r\n</audio>\r\n'
    )
  ),
  torture(
    "regaut01",
    403,
    true,
    message(`
REGISTER sip:example.com SIP/2.0
To: sip:j.user@example.com
From: sip:j.user@example.com;tag=87321hj23128
Max-Forwards: 8
Call-ID: regaut01.0ha0isndaksdj
CSeq: 9338 REGISTER
Via: SIP/2.0/TCP 192.0.2.253;branch=z9hG4bKkdjuw
Authorization: NoOneKnowsThisScheme opaque-data=here
Content-Length:0
`)
  ),
  torture(
    "multi01",
    400,
    true,
    message(
      `
INVITE sip:user@company.com SIP/2.0
Contact: <sip:caller@host25.example.net>
Via: SIP/2.0/UDP 192.0.2.25;branch=z9hG4bKkdjuw
Max-Forwards: 70
CSeq: 5 INVITE
Call-ID: multi01.98asdh@192.0.2.1
CSeq: 59 INVITE
Call-ID: multi01.98asdh@192.0.2.2
From: sip:caller@example.com;tag=3413415
To: sip:user@example.com
To: sip:other@example.net
From: sip:caller@example.net;tag=2923420123
Content-Type: application/sdp
l: 154
Contact: <sip:caller@host36.example.net>
Max-Forwards: 5
`,
      `${body("192.0.2.25")}\r\n`
    )
  ),
  torture(
    "mcl01",
    400,
    false,
    message(
      `
OPTIONS sip:user@example.com SIP/2.0
Via: SIP/2.0/UDP host5.example.net;branch=z9hG4bK293423
To: sip:user@example.com
From: sip:other@example.net;tag=3923942
Call-ID: mcl01.fhn2323orihawfdoa3o4r52o3irsdf
CSeq: 15932 OPTIONS
Content-Length: 13
Max-Forwards: 60
Content-Length: 5
Content-Type: text/plain
`,
      "There's no way to know how many octets are supposed to be here.\r\n"
    )
  ),
  torture(
    "bcast",
    "dropped",
    true,
    message(
      `
SIP/2.0 200 OK
Via: SIP/2.0/UDP 192.0.2.198;branch=z9hG4bK1324923
Via: SIP/2.0/UDP 255.255.255.255;branch=z9hG4bK1saber23
Call-ID: bcast.0384840201234ksdfak3j2erwedfsASdf
CSeq: 35 INVITE
From: sip:user@example.com;tag=11141343
To: sip:user@example.edu;tag=2229
Content-Length: 154
Content-Type: application/sdp
Contact: <sip:user@host28.example.com>
`,
      body("192.0.2.198")
    )
  ),
  torture(
    "zeromf",
    200,
    true,
    message(`
OPTIONS sip:user@example.com SIP/2.0
To: sip:user@example.com
From: sip:caller@example.net;tag=3ghsd41
Call-ID: zeromf.jfasdlfnm2o2l43r5u0asdfas
CSeq: 39234321 OPTIONS
Via: SIP/2.0/UDP host1.example.com;branch=z9hG4bKkdjuw2349i
Max-Forwards: 0
Content-Length: 0
`)
  ),
  ...(
    [
      ["cparam01", "sip:+19725552222@gw1.example.net;unknownparam"],
      ["cparam02", "<sip:+19725552222@gw1.example.net;unknownparam>"],
      ["regescrt", "<sip:user@example.com?Route=%3Csip:sip.example.com%3E>"]
    ] as const
  ).map(([name, contact]) =>
    torture(
      name,
      403,
      true,
      message(`
REGISTER sip:example.com SIP/2.0
Via: SIP/2.0/UDP saturn.example.com:5060;branch=z9hG4bKkdjuw
Max-Forwards: 70
From: sip:watson@example.com;tag=DkfVgjkrtMwaerKKpe
To: sip:watson@example.com
Call-ID: ${name}.70710@saturn.example.com
CSeq: 2 REGISTER
Contact: ${contact}
l: 0
`)
    )
  ),
  torture(
    "sdp01",
    486,
    true,
    message(
      `
INVITE sip:user@example.com SIP/2.0
To: sip:j_user@example.com
Contact: <sip:caller@host15.example.net>
From: sip:caller@example.net;tag=234
Max-Forwards: 5
Call-ID: sdp01.ndaksdj9342dasdd
Accept: text/nobodyKnowsThis
CSeq: 8 INVITE
Via: SIP/2.0/UDP 192.0.2.15;branch=z9hG4bKkdjuw
Content-Length: 150
Content-Type: application/sdp
`,
      body("192.0.2.5")
    )
  ),
  // Of RFC 2543, without a Contact: nobody could be called back within the call.
  torture(
    "inv2543",
    400,
    true,
    message(
      `
INVITE sip:UserB@example.com SIP/2.0
Via: SIP/2.0/UDP iftgw.example.com
From: <sip:+13035551111@ift.client.example.net;user=phone>
Record-Route: <sip:UserB@example.com;maddr=ss1.example.com>
To: sip:+16505552222@ss1.example.net;user=phone
Call-ID: inv2543.1717@ift.client.example.com
CSeq: 56 INVITE
Content-Type: application/sdp
`,
      "v=0\r\no=mhandley 29739 7272939 IN IP4 192.0.2.5\r\ns=-\r\nc=IN IP4 192.0.2.5\r\nt=0 0\r\nm=audio 49217 RTP/AVP 0\r\n"
    )
  )
]

const six = (
  name: string,
  answer: Torture["answer"],
  parsed: boolean,
  start: string,
  via: string,
  content = ""
): Torture => {
  const method = start.split(" ")[0] ?? ""
  return torture(
    name,
    answer,
    parsed,
    message(
      `
${start} SIP/2.0
To: sip:user@example.com${method === "BYE" ? ";tag=bd76ya" : ""}
From: sip:user@example.com;tag=81x2
Via: ${via}
Call-ID: SSG9559905523997077@hlau_4100.${name}
Max-Forwards: 70
Contact: "Caller" <sip:caller@[2001:db8::1]>
CSeq: 98176 ${method}
${content === "" ? "" : "Content-Type: application/sdp\n"}Content-Length: ${content.length}
`,
      content
    )
  )
}

const sixVia = "SIP/2.0/UDP [2001:db8::9:1];branch=z9hG4bKas3-111"
const sixBody =
  "v=0\r\no=assistant 971731711378798081 0 IN IP6 2001:db8::20\r\ns=Live video feed for today's meeting\r\nc=IN IP6 2001:db8::20\r\nt=3338481189 3370017201\r\nm=audio 6000 RTP/AVP 2\r\na=rtpmap:2 G726-32/8000\r\nm=video 6024 RTP/AVP 107\r\na=rtpmap:107 H263-1998/90000\r\n"

/** RFC 5118, 4.1 to 4.10. */
export const ipv6: ReadonlyArray<Torture> = [
  six("4.1", 403, true, "REGISTER sip:[2001:db8::10]", sixVia),
  six("4.2", 403, true, "REGISTER sip:2001:db8::10", sixVia),
  six("4.3", 403, true, "REGISTER sip:[2001:db8::10:5070]", sixVia),
  six("4.4", 403, true, "REGISTER sip:[2001:db8::10]:5070", sixVia),
  six("4.5.1", 481, true, "BYE sip:[2001:db8::10]", `${sixVia};received=[2001:db8::9:255]`),
  six("4.5.2", 200, true, "OPTIONS sip:[2001:db8::10]", `${sixVia};received=2001:db8::9:255`),
  six("4.6", 486, true, "INVITE sip:user@[2001:db8::10]", sixVia, sixBody),
  six(
    "4.7",
    486,
    true,
    "INVITE sip:user@[2001:db8::10]",
    `${sixVia}, SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKjhja8781hjuaij65144`,
    sixBody
  ),
  six(
    "4.8",
    486,
    true,
    "INVITE sip:user@[2001:db8::10]",
    sixVia,
    sixBody.replace("m=video 6024 RTP/AVP 107\r\n", "m=video 6024 RTP/AVP 107\r\nc=IN IP4 192.0.2.1\r\n")
  ),
  six(
    "4.9",
    486,
    true,
    "INVITE sip:user@example.com",
    "SIP/2.0/UDP [::ffff:192.0.2.10]:19823;branch=z9hG4bKbh19",
    sixBody
  ),
  six("4.10", 200, false, "OPTIONS sip:user@[2001:db8:::192.0.2.1]", sixVia)
]
