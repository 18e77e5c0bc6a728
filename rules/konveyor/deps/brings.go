package deps

import "strings"

// brings is what some widely used artifacts bring along, as their published
// poms say: rules ask for what a starter stands for, and projects declare the
// starter. It is knowledge, not resolution: what is not listed is not known.
var brings = map[string][]string{
	"org.springframework:spring-context":         {"org.springframework:spring-core", "org.springframework:spring-beans", "org.springframework:spring-aop", "org.springframework:spring-expression"},
	"org.springframework:spring-web":             {"org.springframework:spring-core", "org.springframework:spring-beans"},
	"org.springframework:spring-webmvc":          {"org.springframework:spring-web", "org.springframework:spring-context"},
	"org.springframework:spring-webflux":         {"org.springframework:spring-web"},
	"org.springframework:spring-tx":              {"org.springframework:spring-core", "org.springframework:spring-beans"},
	"org.springframework:spring-jdbc":            {"org.springframework:spring-tx"},
	"org.springframework:spring-orm":             {"org.springframework:spring-jdbc"},
	"org.springframework:spring-jms":             {"org.springframework:spring-messaging", "org.springframework:spring-tx", "org.springframework:spring-context"},
	"org.springframework:spring-test":            {"org.springframework:spring-core"},
	"org.springframework:spring-context-support": {"org.springframework:spring-context"},

	"org.springframework.boot:spring-boot":                       {"org.springframework:spring-context"},
	"org.springframework.boot:spring-boot-starter":               {"org.springframework.boot:spring-boot", "org.springframework.boot:spring-boot-autoconfigure", "org.springframework.boot:spring-boot-starter-logging"},
	"org.springframework.boot:spring-boot-starter-activemq":      {bootStarter, "org.springframework:spring-jms", "org.apache.activemq:activemq-broker"},
	"org.springframework.boot:spring-boot-starter-actuator":      {bootStarter, "org.springframework.boot:spring-boot-actuator-autoconfigure", "org.springframework.boot:spring-boot-actuator", "io.micrometer:micrometer-core"},
	"org.springframework.boot:spring-boot-starter-amqp":          {bootStarter, "org.springframework.amqp:spring-rabbit", "org.springframework:spring-messaging"},
	"org.springframework.boot:spring-boot-starter-aop":           {bootStarter, "org.springframework:spring-aop", "org.aspectj:aspectjweaver"},
	"org.springframework.boot:spring-boot-starter-batch":         {bootStarter, "org.springframework.boot:spring-boot-starter-jdbc", "org.springframework.batch:spring-batch-core"},
	"org.springframework.boot:spring-boot-starter-cache":         {bootStarter, "org.springframework:spring-context-support"},
	"org.springframework.boot:spring-boot-starter-data-jpa":      {"org.springframework.boot:spring-boot-starter-jdbc", "org.springframework.data:spring-data-jpa", "org.hibernate:hibernate-core", "org.springframework:spring-orm"},
	"org.springframework.boot:spring-boot-starter-data-mongodb":  {bootStarter, "org.springframework.data:spring-data-mongodb"},
	"org.springframework.boot:spring-boot-starter-data-redis":    {bootStarter, "org.springframework.data:spring-data-redis"},
	"org.springframework.boot:spring-boot-starter-data-rest":     {"org.springframework.boot:spring-boot-starter-web", "org.springframework.data:spring-data-rest-webmvc"},
	"org.springframework.boot:spring-boot-starter-integration":   {bootStarter, "org.springframework.integration:spring-integration-core"},
	"org.springframework.boot:spring-boot-starter-jdbc":          {bootStarter, "org.springframework:spring-jdbc"},
	"org.springframework.boot:spring-boot-starter-json":          {bootStarter, "org.springframework:spring-web"},
	"org.springframework.boot:spring-boot-starter-mail":          {bootStarter, "org.springframework:spring-context-support", "com.sun.mail:jakarta.mail"},
	"org.springframework.boot:spring-boot-starter-oauth2-client": {bootStarter, "org.springframework.security:spring-security-config", "org.springframework.security:spring-security-oauth2-client"},
	"org.springframework.boot:spring-boot-starter-quartz":        {bootStarter, "org.springframework:spring-context-support", "org.springframework:spring-tx", "org.quartz-scheduler:quartz"},
	"org.springframework.boot:spring-boot-starter-security":      {bootStarter, "org.springframework:spring-aop", "org.springframework.security:spring-security-config", "org.springframework.security:spring-security-web"},
	"org.springframework.boot:spring-boot-starter-test":          {bootStarter, "org.springframework.boot:spring-boot-test", "org.springframework:spring-test"},
	"org.springframework.boot:spring-boot-starter-thymeleaf":     {bootStarter, "org.thymeleaf:thymeleaf-spring5"},
	"org.springframework.boot:spring-boot-starter-tomcat":        {"org.apache.tomcat.embed:tomcat-embed-core"},
	"org.springframework.boot:spring-boot-starter-validation":    {bootStarter, "org.hibernate.validator:hibernate-validator"},
	"org.springframework.boot:spring-boot-starter-web":           {bootStarter, "org.springframework.boot:spring-boot-starter-json", "org.springframework.boot:spring-boot-starter-tomcat", "org.springframework:spring-web", "org.springframework:spring-webmvc"},
	"org.springframework.boot:spring-boot-starter-webflux":       {"org.springframework.boot:spring-boot-starter-json", "org.springframework:spring-webflux"},
	"org.springframework.boot:spring-boot-starter-websocket":     {"org.springframework.boot:spring-boot-starter-web", "org.springframework:spring-messaging"},

	"org.springframework.data:spring-data-jpa":                 {"org.springframework:spring-orm", "org.springframework:spring-context"},
	"org.springframework.security:spring-security-config":      {"org.springframework.security:spring-security-core"},
	"org.springframework.security:spring-security-web":         {"org.springframework.security:spring-security-core", "org.springframework:spring-web"},
	"org.springframework.security:spring-security-core":        {"org.springframework:spring-context"},
	"org.springframework.session:spring-session-data-redis":    {"org.springframework.session:spring-session-core", "org.springframework.data:spring-data-redis"},
	"org.springframework.session:spring-session-jdbc":          {"org.springframework.session:spring-session-core", "org.springframework:spring-jdbc"},
	"org.springframework.shell:spring-shell-starter":           {bootStarter, "org.springframework.shell:spring-shell-core"},
	"org.springframework.integration:spring-integration-redis": {"org.springframework.integration:spring-integration-core"},

	"org.springframework.cloud:spring-cloud-starter-config":                {"org.springframework.cloud:spring-cloud-config-client"},
	"org.springframework.cloud:spring-cloud-starter-consul-config":         {"org.springframework.cloud:spring-cloud-consul-config"},
	"org.springframework.cloud:spring-cloud-starter-consul-discovery":      {"org.springframework.cloud:spring-cloud-consul-discovery"},
	"org.springframework.cloud:spring-cloud-starter-gateway":               {"org.springframework.cloud:spring-cloud-gateway-server", "org.springframework.boot:spring-boot-starter-webflux"},
	"org.springframework.cloud:spring-cloud-starter-kubernetes":            {"org.springframework.cloud:spring-cloud-kubernetes-core"},
	"org.springframework.cloud:spring-cloud-starter-netflix-eureka-client": {"org.springframework.cloud:spring-cloud-netflix-eureka-client", "com.netflix.eureka:eureka-client"},
	"org.springframework.cloud:spring-cloud-starter-netflix-eureka-server": {"org.springframework.cloud:spring-cloud-netflix-eureka-server", "com.netflix.eureka:eureka-core"},
	"org.springframework.cloud:spring-cloud-starter-openfeign":             {"org.springframework.cloud:spring-cloud-openfeign-core"},
	"org.springframework.cloud:spring-cloud-starter-stream-kafka":          {"org.springframework.cloud:spring-cloud-stream"},
	"org.springframework.cloud:spring-cloud-starter-stream-rabbit":         {"org.springframework.cloud:spring-cloud-stream"},
	"org.springframework.cloud:spring-cloud-starter-vault-config":          {"org.springframework.cloud:spring-cloud-vault-config"},
	"org.springframework.cloud:spring-cloud-starter-zipkin":                {"org.springframework.cloud:spring-cloud-sleuth-zipkin", "io.zipkin.reporter2:zipkin-reporter"},

	"javax:javaee-api":        {"com.sun.mail:javax.mail", "javax.activation:activation"},
	"org.slf4j:slf4j-log4j12": {"log4j:log4j"},
}

const bootStarter = "org.springframework.boot:spring-boot-starter"

// springVersions are the releases of other groups that a release of Spring Boot
// manages, by the first two numbers of its version.
var springVersions = map[string]struct{ framework, security string }{
	"1.5": {"4.3", "4.2"}, "2.0": {"5.0", "5.0"}, "2.1": {"5.1", "5.1"}, "2.2": {"5.2", "5.2"}, "2.3": {"5.2", "5.3"},
	"2.4": {"5.3", "5.4"}, "2.5": {"5.3", "5.5"}, "2.6": {"5.3", "5.6"}, "2.7": {"5.3", "5.7"}, "3.0": {"6.0", "6.0"},
	"3.1": {"6.0", "6.1"}, "3.2": {"6.1", "6.2"}, "3.3": {"6.1", "6.3"}, "3.4": {"6.2", "6.4"}, "3.5": {"6.2", "6.5"},
}

// indirect adds what a declared dependency is known to bring along, at its
// place. excluded tells what the declaration leaves out.
func (r *resolver) indirect(d Dependency, group, artifact string, excluded func(group, artifact string) bool) {
	seen := map[string]bool{group + ":" + artifact: true}
	queue := withCamel(group, artifact)
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		g, a, _ := strings.Cut(name, ":")
		if seen[name] || excluded != nil && excluded(g, a) {
			continue
		}
		seen[name] = true
		out := d
		out.Name, out.Type, out.Indirect = g+"."+a, "", true
		out.Version = indirectVersion(d.Version, group, g)
		r.out = append(r.out, out)
		queue = append(queue, withCamel(g, a)...)
	}
}

// withCamel is brings with the rule by which Camel names its starters.
func withCamel(group, artifact string) []string {
	if component, ok := strings.CutSuffix(artifact, "-starter"); ok && (group == "org.apache.camel.springboot" || group == "org.apache.camel") && component != "camel-spring-boot" {
		return []string{"org.apache.camel:" + component}
	}
	return brings[group+":"+artifact]
}

// indirectVersion is the version of an artifact of group that base, of version
// and group from, brings along; "" when that is not known.
func indirectVersion(version, from, group string) string {
	switch {
	case version == "":
		return ""
	case from == group, from == "org.apache.camel.springboot" && group == "org.apache.camel":
		return version
	case from != "org.springframework.boot":
		return ""
	}
	numbers := strings.SplitN(version, ".", 3)
	if len(numbers) < 2 {
		return ""
	}
	managed := springVersions[numbers[0]+"."+numbers[1]]
	switch group {
	case "org.springframework":
		return managed.framework
	case "org.springframework.security":
		return managed.security
	}
	return ""
}
